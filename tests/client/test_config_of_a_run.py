"""In a notebook run, the client uses the service that runs it, unless the notebook names another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from svc_jupyter.client import Client, ConfigurationError, ConnectionFailed, Retries, Settings
from svc_jupyter.client.address.config import beats_profiles
from svc_jupyter.client.transport.link import Connection, Link

SECRET = "s3cret-token-value"
RUNS, NEXT = "http://127.0.0.1:7001", "http://127.0.0.1:7002"


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    file = tmp_path / "config" / "svc-jupyter" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        '[profiles.default]\nbase_url = "https://default.test"\ntoken = "d"\n'
        '[profiles.named]\nbase_url = "https://named.test"\ntoken = "n"\n'
    )
    file.chmod(0o600)
    return file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "connection.json", base_url=RUNS, token=SECRET)


@pytest.fixture
def environ(config_file: Path, file: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(config_file.parent.parent), "SVC_CONNECTION_FILE": str(file)}


def write(file: Path, **content: Any) -> Path:
    file.write_text(json.dumps(content))
    return file


def test_the_service_of_the_run_beats_the_default_profile(environ: dict[str, str], file: Path) -> None:
    found = Settings.load(environ=environ)
    assert (found.base_url, found.token, found.source) == (RUNS, SECRET, "the service of this run")
    assert (found.embedded, found.connection_file) == (False, file)
    assert SECRET not in repr(found)
    assert beats_profiles(None, None, environ) == "SVC_CONNECTION_FILE"


def test_a_service_named_by_the_notebook_takes_precedence_over_the_service_of_the_run(
    environ: dict[str, str], file: Path
) -> None:
    def named() -> list[str | None]:
        named_there = environ | {"SVC_BASE_URL": "https://b.test", "SVC_API_TOKEN": "t"}
        return [
            Settings.load("https://a.test", "t", environ=environ).base_url,
            Settings.load("https://default.test", environ=environ).token,
            Settings.load(profile="named", environ=environ).base_url,
            Settings.load(environ=environ | {"SVC_PROFILE": "named"}).base_url,
            Settings.load(environ=named_there).base_url,
        ]

    wanted = ["https://a.test", "d", "https://named.test", "https://named.test", "https://b.test"]
    assert named() == wanted
    file.unlink()
    assert named() == wanted


def test_a_run_without_its_file_says_so_and_never_means_the_service_of_this_machine(
    environ: dict[str, str], file: Path
) -> None:
    def refusal() -> str:
        with pytest.raises(ConfigurationError) as refused:
            Settings.load(environ=environ)
        return str(refused.value)

    refusals = {}
    for content in ("", "[]", "{}", f'{{"token": "{SECRET}"}}'):
        file.write_text(content)
        refusals[content] = refusal()
    file.unlink()
    refusals["no file"] = refusal()
    unknown = re.compile(r"service of this run is not known.*svc_config base_url")
    assert {case: text for case, text in refusals.items() if not unknown.search(text) or SECRET in text} == {}


def test_a_run_that_is_refused_a_token_gets_no_other_one(environ: dict[str, str], file: Path) -> None:
    write(file, base_url="https://default.test", refusal="two users")
    with pytest.raises(ConfigurationError, match=r"this run has no access to its service: two users\. Or name"):
        Settings.load(environ=environ)


def test_a_service_that_has_moved_is_found_by_its_file(environ: dict[str, str], file: Path) -> None:
    link = Link(Settings.load(environ=environ), Retries())
    first = link.connection
    assert not link.relocate(first, start=False)
    write(file, base_url=NEXT, token=SECRET)
    assert link.relocate(first, start=False)
    assert link.connection == Connection.to(NEXT, SECRET)
    assert link.relocate(first, start=False)  # another thread's call, which failed at the old address
    file.unlink()
    assert not link.relocate(link.connection, start=True)


def test_a_service_that_does_not_answer_is_reported_and_none_is_started(
    environ: dict[str, str], file: Path, tmp_path: Path
) -> None:
    write(file, base_url="http://127.0.0.1:1", token=SECRET)
    settings = Settings.load(environ=environ | {"SVC_DATA_DIR": str(tmp_path / "data")})
    client = Client(config=settings, retries=Retries(attempts=2, first=0))
    with client, pytest.raises(ConnectionFailed, match=r"http://127.0.0.1:1 cannot be reached") as raised:
        client.account.get()
    assert SECRET not in str(raised.value)
    assert not (tmp_path / "data").exists()
