from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.integration.test_full_disk import namespace
from tests.service.installs.conftest import Handler, Repository
from tests.support.until import until

from svc_jupyter.service.installs import install as install_module
from svc_jupyter.service.installs.failures import DiskFull, FolderUnusable
from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.lock import Artifact, Lock, parse

INSTALLER = Path(__file__).parent / "installing.py"


def quiet(_line: str) -> None:
    pass


@pytest.fixture
def lock_file(tmp_path: Path, lock: Lock) -> Path:
    file = tmp_path / "tiny-1.0.lock"
    file.write_text("\n".join(map(str, lock.artifacts)))
    return file


@pytest.fixture
def installer(root: Path, repository: Repository, lock_file: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts processes that install; what is left of them is ended."""
    started = []

    def start(*launcher: str) -> subprocess.Popen[str]:
        command = [*launcher, sys.executable, str(INSTALLER), str(root), repository.address, str(lock_file)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


class Gate:
    """A file that arrives in half and waits there until it is let through."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self, handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) // 2])
        handler.wfile.flush()
        self.reached.set()
        self.open.wait(30)
        handler.wfile.write(content[len(content) // 2 :])

    def after(self, handler: Handler, content: bytes) -> None:
        """Serve another file once half of this one was sent."""
        self.reached.wait(30)
        handler.serve(content)


def arrived(installation: Installation, artifact: Artifact) -> int:
    """Return the bytes of a file that is under way."""
    part = installation.store.part(artifact)
    return part.stat().st_size if part.exists() else 0


async def test_the_jars_are_in_the_order_of_the_lock(installation: Installation, lock: Lock):
    home = await installation.install(lock, quiet)
    assert [jar.name for jar in installation.jars(lock)] == ["b-1.0.jar", "a-1.0.jar", "c-1.0.jar"]
    assert {jar.parent for jar in installation.jars(lock)} == {home / "lib"}


async def test_with_the_files_there_nothing_is_asked_of_the_network(
    installation: Installation, lock: Lock, repository: Repository
):
    await installation.install(lock, quiet)
    repository.requests.clear()

    def nobody() -> str:
        raise AssertionError

    await Installation(installation.root, nobody, install_module.Patience()).install(lock, quiet)
    assert not repository.requests


async def test_progress_reports_megabytes_from_the_first_to_the_last(
    installation: Installation, lock: Lock, said: list[str]
):
    await installation.install(lock, said.append)
    assert said[-1] == "installing tiny (0.9 of 0.9 MB)"


async def test_a_file_of_two_engines_is_downloaded_once_and_lies_there_once(
    installation: Installation, lock: Lock, repository: Repository
):
    shared = lock.artifacts[0]
    other = parse("other-2.0.lock", f"{shared}\n{repository.add('org/example/d.jar', 9)}")
    await asyncio.gather(installation.install(lock, quiet), installation.install(other, quiet))
    assert repository.requests[shared.path] == 1
    assert installation.jars(lock)[0].stat().st_ino == installation.jars(other)[0].stat().st_ino
    assert not list(installation.store.part(shared).parent.iterdir())


async def test_a_damaged_file_in_the_store_is_downloaded_anew(
    installation: Installation, lock: Lock, repository: Repository
):
    shared = lock.artifacts[0]
    await installation.install(lock, quiet)
    installation.store.path(shared).write_bytes(bytes(shared.size))
    assert installation.wrong_files(lock) == [shared.file_name]
    other = parse("other-2.0.lock", str(shared))
    await installation.install(other, quiet)
    assert repository.requests[shared.path] == 2
    assert installation.wrong_files(other) == []


async def test_a_killed_installer_leaves_nothing_half_and_the_next_goes_on_where_it_was(
    installer: Callable[..., subprocess.Popen[str]], installation: Installation, lock: Lock, repository: Repository
):
    gate = Gate()
    *others, last = lock.artifacts
    repository.faults[others[-1].path] += [gate.after]
    repository.faults[last.path] += [gate]
    process = installer()
    await asyncio.to_thread(gate.reached.wait, 30)
    await until(lambda: not installation.store.missing(others) and arrived(installation, last) == last.size // 2)
    process.kill()
    process.wait()
    gate.open.set()
    assert not installation.is_installed(lock)

    await installation.install(lock, quiet)
    assert installation.wrong_files(lock) == []
    assert [repository.requests[artifact.path] for artifact in lock.artifacts] == [1, 1, 2]
    assert repository.ranges[last.path][-1] == f"bytes={last.size // 2}-"


async def test_two_processes_at_once_share_one_installation(
    installer: Callable[..., subprocess.Popen[str]], installation: Installation, lock: Lock, repository: Repository
):
    gate = Gate()
    repository.faults[lock.artifacts[0].path] += [gate]
    first = installer()
    await asyncio.to_thread(gate.reached.wait, 30)
    second = installer()
    assert second.stdout is not None
    assert await asyncio.to_thread(second.stdout.readline) == "waiting: another process is installing tiny\n"
    gate.open.set()
    for process in (first, second):
        assert await asyncio.to_thread(process.wait, 30) == 0
    assert set(repository.requests.values()) == {1}
    assert installation.wrong_files(lock) == []


async def test_a_cancelled_installation_ends_at_once_and_keeps_what_came(
    installation: Installation, lock: Lock, repository: Repository
):
    gate = Gate()
    first = lock.artifacts[0]
    repository.faults[first.path] += [gate]
    task = asyncio.create_task(installation.install(lock, quiet))
    await asyncio.to_thread(gate.reached.wait, 30)
    await until(lambda: arrived(installation, first) == first.size // 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.open.set()
    await installation.install(lock, quiet)
    assert repository.ranges[first.path][-1] == f"bytes={first.size // 2}-"


def test_a_disk_that_becomes_full_meanwhile_is_reported(
    installer: Callable[..., subprocess.Popen[str]], root: Path, repository: Repository, lock: Lock
):
    root.mkdir()
    gate = Gate()
    repository.faults[lock.artifacts[0].path] += [gate]
    process = installer(*namespace(), 'mount -t tmpfs -o size=48m tmpfs "$0" && exec "$@"', str(root))
    assert gate.reached.wait(30)
    fill(Path(f"/proc/{process.pid}/root{root}/filler"))
    gate.open.set()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors.startswith(f"DiskFull: the disk of {root} is full")
    assert "SVC_ENGINES_DIR" in errors


def fill(file: Path) -> None:
    """Write until nothing more fits."""
    with file.open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(4096))


async def test_too_little_room_is_reported_before_anything_is_downloaded(
    installation: Installation, lock: Lock, repository: Repository
):
    much = parse("much-1.0.lock", f"org/example/much.jar {'0' * 64} {10**15}")
    with pytest.raises(DiskFull, match=r"much needs 1,000,000,034 MB.*make room"):
        await installation.install(much, quiet)
    assert not repository.requests


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, lock: Lock):
    (tmp_path / "file").touch()
    with pytest.raises(FolderUnusable, match=r"file.*SVC_ENGINES_DIR"):
        await Installation(tmp_path / "file" / "engines", str, install_module.Patience()).install(lock, quiet)


def test_a_disk_that_is_only_read_is_reported(installer: Callable[..., subprocess.Popen[str]], root: Path):
    root.mkdir()
    process = installer(*namespace(), 'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"', str(root))
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.startswith(f"FolderUnusable: {root}")
    assert "Read-only file system" in errors
