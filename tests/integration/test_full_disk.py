"""A full disk: the service goes on answering, says what is wrong, and carries on once there is room again.

The disk is a small one of the service's own (tmpfs in a mount namespace), so that the real error comes from the system.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import end_commands_of
from tests.support.service_process import ServiceProcess, wait_until

pytestmark = pytest.mark.campaign
SIZE_MB = 12
MOUNT = f'mount -t tmpfs -o size={SIZE_MB}m tmpfs "$0" && exec "$@" 2>>"$0/serve.log"'
"""The service's own log is on the small disk too."""


def namespace() -> tuple[str, ...]:
    """Return how a mount namespace is made here: by root, or by anybody in a user namespace."""
    for options in (("-m",), ("-r", "-m")):
        if (
            subprocess.run(
                ["unshare", *options, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True
            ).returncode
            == 0
        ):
            return ("unshare", *options, "sh", "-c")
    pytest.fail("this needs `unshare -m`, or `unshare -rm` where users may have namespaces of their own")


class SmallDiskService(ServiceProcess):
    """A service whose data folder is a small disk that only its own processes see as such."""

    def __init__(self, data_dir: Path, **settings: object) -> None:
        super().__init__(data_dir, **settings)
        self.launcher = (*namespace(), MOUNT, str(data_dir))

    @property
    def disk(self) -> Path:
        """The data folder as the service sees it."""
        return Path(f"/proc/{self.pid}/root{self.data_dir}")

    @property
    def token_file(self) -> Path:
        return self.disk / "service.json"

    def folder(self, command_id: int) -> Path:
        """Look for it by name: SQLite takes the link in `disk` for the folder of that name out here."""
        return wait_until(lambda: next(self.disk.glob(f"commands/*/{command_id}-*"), None), "the command's folder")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[SmallDiskService]:
    service = SmallDiskService(tmp_path / "data", kill_grace_seconds=0.5).start()
    yield service
    service.kill()
    end_commands_of(service.data_dir)


def fill(service: SmallDiskService) -> Path:
    """Write a file until nothing more fits; return it."""
    file = service.disk / "fill"
    with file.open("wb", buffering=0) as target:
        while target.write(b"\0" * (1 << 20)) == 1 << 20:
            pass
        with pytest.raises(OSError, match="No space left"):
            target.write(b"\0")
    return file


def test_a_script_that_fills_the_disk_fails_and_the_service_carries_on(service: SmallDiskService):
    filling = service.submit("head -c 100000000 /dev/zero")["id"]
    out = service.folder(filling) / "1" / "out"
    wait_until(lambda: out.exists() and out.stat().st_size > 5_000_000, "the filling of the disk")
    assert service.http.get("/commands").status_code == 200
    wait_until(lambda: service.http.get(f"/commands/{filling}").status_code == 200, "an answer")
    out.unlink()
    record = service.ended(filling)
    assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", 1)
    after = service.submit("echo there is room again")["id"]
    assert service.ended(after)["status"] == "done"
    assert service.text(after) == "there is room again\r\n"


def test_while_it_is_full_nothing_is_accepted_that_would_be_lost(service: SmallDiskService):
    before = service.submit("echo before")["id"]
    assert service.ended(before)["status"] == "done"
    running = service.submit(f"until [ -e {service.data_dir}/go ]; do sleep 0.02; done; echo end")["id"]
    wait_until(lambda: service.record(running)["pid"], "the begin of the script")
    filler = fill(service)
    accepted = []
    for number in range(40):
        response = service.http.post("/commands", json={"command_type": "ShellCommand", "inline": f"echo {number}"})
        if response.status_code == 200:
            accepted.append(response.json()["id"])
        else:
            assert response.status_code == 503, response.text
            assert "Retry-After" in response.headers
    assert len(accepted) < 40, "the disk was not full"
    for path in ("/commands", f"/commands/{before}", f"/commands/{before}/results", f"/commands/{before}/logs"):
        assert service.http.get(path).status_code == 200
    filler.unlink()
    (service.disk / "go").touch()
    assert service.ended(running)["status"] == "done"
    for command_id in accepted:
        record = service.ended(command_id)
        assert record["status"] == "done" or "No space left" in record["message"] or "disk full" in record["message"]
    again = service.submit("echo again")["id"]
    assert service.ended(again)["status"] == "done"
    listed = service.http.get("/commands", params={"per_page": 100}).json()["commands"]
    assert {record["id"] for record in listed} >= {before, running, again, *accepted}
    assert {record["status"] for record in listed} <= {"done", "error"}


def test_a_notebook_that_finds_no_room_stays_as_it_was(service: SmallDiskService):
    path = "/jupyter_notebooks/contents/Common/note.txt"
    service.http.put("/account/features", json={"jupyter_notebooks": True})
    assert service.http.put(path, json={"content": "old"}).status_code == 200
    filler = fill(service)
    refused = service.http.put(path, json={"content": "new" * 1_000_000})
    assert refused.status_code == 503, refused.text
    assert "No space left on device; what was there is unchanged" in refused.json()["error"]["error_message"]
    assert service.http.get(path).json()["content"] == "old"
    filler.unlink()
    assert service.http.put(path, json={"content": "new"}).status_code == 200
    assert service.http.get(path).json()["content"] == "new"
