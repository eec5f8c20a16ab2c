"""What a page enters is written into the profile file, and found there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from svc_jupyter.client.address.config import Settings, beats_profiles, write_profile
from svc_jupyter.client.errors import ConfigurationError

SECRET = "of-the-service"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def file_of(environ: dict[str, str]) -> Path:
    return Path(environ["XDG_CONFIG_HOME"]) / "svc-jupyter" / "config.toml"


def test_a_written_profile_is_what_counts_then_and_its_owners_alone(environ: dict[str, str]) -> None:
    path = write_profile("default", "https://service.test/api/v1.2", SECRET, environ=environ)
    assert path == file_of(environ)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    settings = Settings.load(environ=environ)
    assert (settings.base_url, settings.token) == ("https://service.test", SECRET)
    assert [file.name for file in path.parent.iterdir()] == ["config.toml"]


def test_other_profiles_and_comments_stay_and_an_old_token_file_goes(environ: dict[str, str]) -> None:
    path = file_of(environ)
    path.parent.mkdir()
    path.write_text('# mine\n[profiles.work]\nbase_url = "https://work.test"\ntoken_file = "~/token"  # of work\n')
    write_profile("default", "https://service.test", SECRET, environ=environ)
    assert "# mine" in path.read_text()
    assert "# of work" in path.read_text()
    write_profile("work", "https://new.test", SECRET, environ=environ)
    assert Settings.load(profile="work", environ=environ).base_url == "https://new.test"


def test_a_file_that_is_not_understood_is_left_alone_and_not_quoted(environ: dict[str, str]) -> None:
    path = file_of(environ)
    path.parent.mkdir()

    def refusal(content: bytes) -> tuple[bool, bytes]:
        """Return whether the error quotes the token, and what the file has then."""
        path.write_bytes(content)
        with pytest.raises(ConfigurationError) as error:
            write_profile("default", "https://service.test", SECRET, environ=environ)
        return SECRET in str(error.value), path.read_bytes()

    contents = (b'token = "of-the-service', b"profiles = 7\n", b"\xff")
    assert [refusal(content) for content in contents] == [(False, content) for content in contents]


def test_where_the_address_is_given_otherwise_the_file_does_not_count() -> None:
    environ = {"SVC_BASE_URL": "https://elsewhere.test"}
    assert beats_profiles(None, None, environ) == "SVC_BASE_URL"
    assert beats_profiles("https://given.test", None, {}) == "the arguments"
    assert beats_profiles(None, "work", environ) is None
    assert beats_profiles(None, None, {}) is None
