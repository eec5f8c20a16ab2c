"""What an isolated program cannot do, in each way to run one. Each attempt succeeds without isolation, as a proof."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.conftest import end_commands_of
from tests.integration.test_notebook_runs import store, submit, switch_on
from tests.support.service_process import ServiceProcess, wait_until

import svc_jupyter

DOCUMENT = Path(__file__).parents[2] / "docs" / "security.md"
SECRET = "a-word-of-another-user"
PATTERN = "a-word-of[-]another-user"
"""Finds the word, and not itself in the script that looks for it."""
HIDDEN = ["sleep", "87654"]
CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
TRACE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(16, int(sys.argv[1]), 0, 0) != 0)"
FILES = ("$DATA/service.json", "$DATA/secret.key", "$DATA/service.db")
ATTEMPTS = {
    "read `service.json`, `secret.key` or the database": f"cat {' || cat '.join(FILES)}",
    "write to them": f"true >>{' || true >>'.join(FILES)}",
    "put a file into the data folder": "true >$DATA/new",
    "read the script, log or result of another command": f"grep -rq '{PATTERN}' $DATA/commands",
    "change the service's record of its own process": 'true >>"$SVC_COMMAND_MARK/pid"',
    "read a notebook": f"grep -rq --include=*.ipynb '{PATTERN}' $DATA/jupyter",
    "read the token of another notebook run, or its kernel's key": "cat $RUN/access/* || cat $RUN/kernel/*.json",
    "read files of the service's user": "cat $OWN_FILE",
    "see the service's process, or another command's": "cat /proc/$SERVICE/cmdline || cat /proc/$OTHER/cmdline",
    "signal them": "kill -0 $SERVICE || kill -0 $OTHER",
    "read the variables of the service": '[ -n "$TEAM_PASSWORD" ]',
    "change the service's program": "true >>$PACKAGE/__init__.py",
    "use a Unix socket of the machine": f"{sys.executable} -c '{CONNECT}' $SOCKET",
}
"""Scripts that succeed where the attempt does."""
OF_ROOT = {
    "read the service's memory or environment under `/proc`": "cat /proc/$SERVICE/environ",
    "trace another command": f"{sys.executable} -c '{TRACE}' $OTHER",
    "mount a file system": "mount -t tmpfs none $MOUNT && umount $MOUNT",
}
"""The same; without isolation only root succeeds."""
_ALL = {**ATTEMPTS, **OF_ROOT}
ESCAPE = "leave a process behind that hides from the service"


WAYS = ("a shell command", "a notebook run")
_CELL = "import subprocess\nprint(subprocess.run(['bash', {!r}], stdout=subprocess.PIPE, text=True, check=True).stdout)"
_ATTEMPT = "if ( {} ) >&2; then echo {}; fi\n"


class _Service(ServiceProcess):
    launcher = ("env", "TEAM_PASSWORD=hunter2")


class Attacked:
    """A service with commands and a notebook of others, and what the scripts need to know of it."""

    def __init__(self, folder: Path, isolation: str) -> None:
        self.folder = folder
        self.service = _Service(folder / "data", isolation=isolation, file_roots="[]", kill_grace_seconds=5).start()
        switch_on(self.service)
        store(self.service, "Common/secret.ipynb", f"'{SECRET}'")
        self.service.ended(self.service.submit(f"echo {SECRET}")["id"])
        self.other = self.service.submit("sleep 98765")["id"]
        store(self.service, "Common/other.ipynb", "import time\nprint('begun', flush=True)\ntime.sleep(98765)")
        run = submit(self.service, "Common/other.ipynb")
        wait_until(lambda: "begun" in self.service.logs(run), "the other run", 60)
        (folder / "mount").mkdir()
        (folder / "file").write_text("of the service's user")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / "socket"))
        self._listener.listen()
        self._variables = {
            "DATA": self.service.data_dir,
            "SERVICE": self.service.pid,
            "OTHER": wait_until(lambda: self.service.record(self.other)["pid"], "the other command"),
            "OWN_FILE": folder / "file",
            "PACKAGE": Path(svc_jupyter.__file__).parent,
            "SOCKET": folder / "socket",
            "MOUNT": folder / "mount",
            "RUN": self.service.folder(run) / "1",
        }
        self._succeeded: dict[str, set[str]] = {}
        """The attempts that succeed, by the way to make them."""

    def run(self, script: str) -> dict[str, Any]:
        return self.service.ended(self.service.submit(self._told + script)["id"])

    def succeeds(self, attempt: str, way: str) -> bool:
        """Return whether an attempt succeeds; all are made at once, which takes one command for each way."""
        if way not in self._succeeded:
            script = self.service.data_dir / "storage" / "attempts.sh"
            lines = [_ATTEMPT.format(line, number) for number, line in enumerate(_ALL.values())]
            script.write_text(self._told + "".join(lines) + "true\n")
            record = self.service.ended(self._submit(way, script), 90)
            assert record["status"] == "done", self.service.logs(record["id"])
            self._succeeded[way] = {list(_ALL)[int(number)] for number in self.service.text(record["id"]).split()}
        return attempt in self._succeeded[way]

    def _submit(self, way: str, script: Path) -> int:
        if way == "a shell command":
            return int(self.service.submit(f"bash {script}")["id"])
        store(self.service, "Common/attempts.ipynb", _CELL.format(str(script)))
        return submit(self.service, "Common/attempts.ipynb", upload_to_source=False)

    @property
    def _told(self) -> str:
        return "".join(f"{name}='{value}'\n" for name, value in self._variables.items())

    def close(self) -> None:
        self._listener.close()
        self.service.stop()
        end_commands_of(self.service.data_dir)


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    attacked = Attacked(tmp_path_factory.mktemp("on"), "on")
    yield attacked
    attacked.close()


@pytest.fixture(scope="module")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    attacked = Attacked(tmp_path_factory.mktemp("off"), "off")
    yield attacked
    attacked.close()


@pytest.mark.parametrize("attempt", _ALL)
@pytest.mark.parametrize("way", WAYS)
def test_an_isolated_program_cannot(isolated: Attacked, exposed: Attacked, way: str, attempt: str):
    if attempt in ATTEMPTS or os.geteuid() == 0:
        assert exposed.succeeds(attempt, way), "the attempt itself is wrong"
    assert not isolated.succeeds(attempt, way)


def hidden() -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == HIDDEN]


def test_an_isolated_command_cannot_leave_a_process_behind(isolated: Attacked, exposed: Attacked):
    script = f"setsid env -i {' '.join(HIDDEN)} >&- 2>&- & until grep -q sleep /proc/$!/comm; do sleep 0.02; done"
    assert isolated.run(script)["status"] == "done"
    assert hidden() == []
    assert exposed.run(script)["status"] == "done"
    escaped = hidden()
    for process in escaped:
        process.kill()
    assert len(escaped) == 1


def test_the_attempts_are_the_table_of_the_document():
    table = DOCUMENT.read_text().partition("| A program tries to |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| (.*?) +\| no", table, re.M)) == {*_ALL, ESCAPE}


def test_an_isolated_command_has_a_home_that_stays_and_a_tmp_that_does_not(isolated: Attacked):
    isolated.run("echo kept >~/file; echo lost >/tmp/file; echo shared >$DATA/storage/file")
    record = isolated.run('cat ~/file $DATA/storage/file; ls /tmp/file; [ "$TMPDIR" = /tmp ] && ls $DATA/homes')
    assert isolated.service.text(record["id"]).split() == ["kept", "shared", "1"]
    assert "were ended with it" not in isolated.service.logs(record["id"])
    assert not (isolated.service.folder(record["id"]) / "1" / "tmp").exists()


def test_an_isolated_command_has_its_grace(isolated: Attacked):
    command_id = isolated.service.submit("trap 'echo bye; exit 3' TERM; echo begun; while :; do sleep 0.02; done")["id"]
    out = isolated.service.folder(command_id) / "1" / "out"
    wait_until(lambda: out.exists() and out.read_text(), "the begin of the script")
    isolated.service.http.put(f"/commands/{command_id}", json={"status": "kill"})
    assert isolated.service.record(command_id)["status"] == "cancelled"
    assert out.read_text() == "begun\nbye\n"


def test_a_sandbox_that_cannot_be_made_is_reported_as_such(isolated: Attacked):
    storage = isolated.service.data_dir / "storage"
    storage.rename(storage.with_name("moved"))
    try:
        message = isolated.run("echo ran")["message"]
    finally:
        storage.with_name("moved").rename(storage)
    assert message.startswith("the command's sandbox could not be made, so its script did not run:\nbwrap: ")
    assert str(storage) in message


def test_the_account_says_whether_commands_are_isolated(isolated: Attacked, exposed: Attacked):
    told = [attacked.service.http.get("/account").json()["isolation"] for attacked in (isolated, exposed)]
    assert told == ["on", "off"]
