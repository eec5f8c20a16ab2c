"""`svc-jupyter engines`, on a repository of this machine that serves what the tests have installed before."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from tests.support.engines import ENGINES, engine_at_once

from svc_jupyter.cli import engines as command_line
from svc_jupyter.cli.main import main
from svc_jupyter.service.installs import class_archive
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.engines import COMPILER
from svc_jupyter.service.installs.lock import locked
from svc_jupyter.service.installs.store import Store

Run = Callable[..., tuple[int, str, str]]


class FromStore(http.server.BaseHTTPRequestHandler):
    """Serves what the metastore takes, the compiler among it, from the store of the installed engines."""

    paths: ClassVar = {
        artifact.path: artifact for name in (Engine.HIVE_METASTORE, COMPILER) for artifact in locked(name).artifacts
    }
    store: Store

    def do_GET(self) -> None:
        content = self.store.path(self.paths[self.path.lstrip("/")]).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def engines_dir(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for engines, and the repository to install from."""
    engine_at_once(Engine.HIVE_METASTORE)
    FromStore.store = ENGINES.installation.store
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FromStore)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    # A class archive takes ten seconds to make, and has tests of its own.
    monkeypatch.setattr(class_archive, "has_list", lambda *_: False)
    monkeypatch.setenv("SVC_ENGINES_DIR", str(tmp_path / "engines"))
    monkeypatch.setenv("SVC_MAVEN_REPOSITORY", f"http://127.0.0.1:{server.server_port}")
    yield tmp_path / "engines"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def engines(engines_dir: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["engines", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def line_of(name: str, output: str) -> str:
    return next(line for line in output.splitlines() if name in line.split()[:2])


def test_an_engine_is_installed_listed_and_uninstalled(engines: Run, engines_dir: Path):
    code, output, _ = engines("list")
    assert code == 0
    assert "not installed" in line_of("hive-metastore", output)
    assert "Hive tables" in line_of("hive-metastore", output)
    assert f"Folder: {engines_dir}" in output
    assert not engines_dir.exists()

    code, output, _ = engines("install", "hive-metastore")
    assert code == 0
    assert "installing hive-metastore (93.0 of 93.0 MB)" in output
    assert f"hive-metastore 2.3.10 is installed in {engines_dir}" in output

    _, output, _ = engines("list")
    assert line_of("hive-metastore", output).split()[1:5] == ["2.3.10", "93", "MB", "installed"]
    assert "not installed" in line_of("pig", output)

    assert engines("uninstall", "hive-metastore")[:2] == (0, "hive-metastore: 93 MB are free again\n")
    assert engines("uninstall", "hive-metastore")[:2] == (0, "hive-metastore: nothing was installed\n")


def test_the_doctor_shows_what_is_missing_and_finds_damage(engines: Run, engines_dir: Path):
    code, output, _ = engines("doctor")
    assert code == 0
    assert line_of("Java", output).startswith("✓")
    assert line_of("hive-metastore", output).startswith("! hive-metastore   not installed")
    assert "→ svc-jupyter engines install hive-metastore" in output

    engines("install", "hive-metastore")
    damaged = next(engines_dir.glob("hive-metastore-*/lib/derby-*.jar"))
    damaged.write_bytes(b"no jar")
    assert line_of("hive-metastore", engines("doctor")[1]).startswith("✓")
    code, output, _ = engines("doctor", "--verify")
    assert code == 1
    assert f"1 file is not what was installed: {damaged.name}" in line_of("hive-metastore", output)
    assert "→ svc-jupyter engines uninstall hive-metastore && svc-jupyter engines install hive-metastore" in output


def test_an_engine_installed_by_another_version_is_reported_as_outdated_and_removed(engines: Run, engines_dir: Path):
    engines("install", "hive-metastore")
    old = engines_dir / f"pig-0.17.0-{'a' * 12}"
    old.mkdir()
    (old / "pig.jar").write_bytes(bytes(3_000_000))
    assert "pig-0.17.0" in line_of("outdated", engines("doctor")[1])
    assert engines("uninstall", "outdated")[:2] == (0, "outdated: 3 MB are free again\n")
    assert "outdated" not in engines("doctor")[1]
    assert engines("uninstall", "all")[:2] == (0, "all: 96 MB are free again\n")  # the compiler, too


def test_a_failure_is_one_text_and_an_exit_code(engines: Run, monkeypatch: pytest.MonkeyPatch, engines_dir: Path):
    engines_dir.touch()
    code, _, errors = engines("install", "hive-metastore")
    assert code == 1
    assert errors.startswith("svc-jupyter engines: ")
    assert "SVC_ENGINES_DIR" in errors


def test_every_engine_can_be_named():
    assert list(command_line.NAMES) == [engine.value for engine in Engine]


def test_an_unknown_engine_is_refused_with_the_names_there_are(data_dir: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["engines", "install", "oven"])
    assert ended.value.code == 2
    assert "hive-metastore" in capsys.readouterr().err


def test_the_general_doctor_mentions_engines_in_one_line(
    data_dir: Path, engines_dir: Path, capsys: pytest.CaptureFixture[str]
):
    main(["doctor"])
    assert "none is installed; the first use installs what a command needs" in line_of(
        "engines", capsys.readouterr().out
    )
