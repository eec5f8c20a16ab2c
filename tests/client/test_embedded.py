import fcntl
import json
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest
from tests.client.conftest import QUICK
from tests.support.service_process import wait_until

from svc_jupyter.client import AsyncClient, Client, ConnectionFailed, EmbeddedServiceFailed, Settings
from svc_jupyter.client.address import embedded
from svc_jupyter.client.address.embedded import EmbeddedService, RunningService
from svc_jupyter.client.transport import link

PROGRAM = (sys.executable, str(Path(__file__).with_name("stand_in_service.py")))


def pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "starts").read_text().split()] if (folder / "starts").exists() else []


def kill(pid: int) -> None:
    """End a stand-in, and wait until its locks are free; its pid may belong to something else by now."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        if PROGRAM[1] in process.cmdline():
            process.kill()
            wait_until(lambda: not process.is_running(), "the end of the stand-in")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    for pid in pids(tmp_path / "data"):
        kill(pid)


@pytest.fixture
def service(folder: Path) -> EmbeddedService:
    return EmbeddedService(folder, program=PROGRAM, start_seconds=30)


@pytest.fixture
def client_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(link, "EmbeddedService", partial(EmbeddedService, program=PROGRAM, start_seconds=30))
    with Client(config=Settings.load(environ={"SVC_DATA_DIR": str(folder)}), retries=QUICK) as client:
        yield client


def test_a_service_is_started_and_then_found(service: EmbeddedService, folder: Path) -> None:
    assert service.find() is None
    started = service.find_or_start()
    assert service.find_or_start() == started == service.find()
    assert len(pids(folder)) == 1
    assert started.pid == pids(folder)[0]


def test_it_outlives_its_starter_and_keeps_secrets_out_of_sight(
    service: EmbeddedService, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_API_TOKEN", "secret-of-another-service")
    monkeypatch.setenv("SVC_BASE_URL", "https://elsewhere.test")
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/of the starter.ipynb")
    running = service.find_or_start()
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["SVC_DATA_DIR"] == str(folder)
    assert "JPY_SESSION_NAME" not in environment
    assert "secret-of-another-service" not in json.dumps(environment)
    assert os.getsid(running.pid) == running.pid
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "service.log").stat().st_mode & 0o777 == 0o600
    assert running.token not in repr(running)


def test_several_that_start_it_at_once_end_up_with_one(folder: Path) -> None:
    services = [EmbeddedService(folder, program=PROGRAM, start_seconds=30) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        found = set(pool.map(EmbeddedService.find_or_start, services))
    assert len(found) == 1
    assert len(pids(folder)) == 1


def test_a_file_that_a_killed_service_left_is_not_believed(service: EmbeddedService, folder: Path) -> None:
    first = service.find_or_start()
    kill(first.pid)
    wait_until(lambda: service.find() is None)
    assert (folder / "service.json").exists()
    second = service.find_or_start()
    assert second.pid != first.pid


def test_a_file_whose_pid_is_now_another_process_is_not_believed_either(service: EmbeddedService, folder: Path) -> None:
    folder.mkdir()
    about = {"base_url": "http://127.0.0.1:9", "token": "old", "pid": os.getpid(), "version": "0"}
    (folder / "service.json").write_text(json.dumps(about))
    assert service.find_or_start(unanswered="http://127.0.0.1:9").pid == pids(folder)[0]


def test_the_token_is_not_sent_to_whoever_has_the_port_of_a_killed_service(
    service: EmbeddedService, folder: Path
) -> None:
    """Neither while nothing runs, nor while another service is just starting, whatever process has its number."""
    first = service.find_or_start()
    kill(first.pid)
    wait_until(lambda: service.find() is None)
    left = json.loads((folder / "service.json").read_text()) | {"pid": os.getpid()}
    (folder / "service.json").write_text(json.dumps(left))
    assert service.find() is None
    with (folder / "service.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert service.find() is None


def test_a_folder_of_postgresql_is_not_started_without_it(
    service: EmbeddedService, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SVC_DATABASE_URL", raising=False)
    folder.mkdir()
    belongs = {"key": "k", "kind": "postgresql", "database": "svc at db.example.org"}
    (folder / "identity.json").write_text(json.dumps(belongs))
    with pytest.raises(EmbeddedServiceFailed, match=r"PostgreSQL database svc at db.example.org.*SVC_BASE_URL"):
        service.find_or_start()
    assert pids(folder) == []
    monkeypatch.setenv("SVC_DATABASE_URL", "postgresql://db.example.org/svc")
    assert service.find_or_start().pid == pids(folder)[0]


def test_a_file_that_is_no_description_counts_as_none(service: EmbeddedService, folder: Path) -> None:
    folder.mkdir()

    def found(content: str) -> RunningService | None:
        (folder / "service.json").write_text(content)
        return service.find()

    contents = ("", "{", "[]", "null", '{"base_url": "http://127.0.0.1:9"}')
    assert {content: found(content) for content in contents} == dict.fromkeys(contents)


def test_a_start_that_fails_shows_the_end_of_its_log_and_what_to_do(
    service: EmbeddedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "fails")
    with pytest.raises(EmbeddedServiceFailed) as raised:
        service.find_or_start()
    text = str(raised.value)
    assert "it ended with exit code 1" in text
    assert "the database cannot be opened" in text
    assert "svc-jupyter doctor" in text


def test_a_start_that_takes_too_long_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN", "never answers")
    with pytest.raises(EmbeddedServiceFailed, match=r"did not answer within 0.5 s"):
        EmbeddedService(folder, program=PROGRAM, start_seconds=0.5).find_or_start()
    wait_until(lambda: pids(folder), "the number by which the stand-in is ended")


def test_a_folder_that_a_stopping_service_still_holds_is_waited_for(service: EmbeddedService, folder: Path) -> None:
    folder.mkdir()
    with (folder / "service.lock").open("w") as held, ThreadPoolExecutor(1) as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        starting = pool.submit(service.find_or_start)
        wait_until(lambda: len(pids(folder)) >= 2)
        fcntl.flock(held, fcntl.LOCK_UN)
        assert starting.result().pid == pids(folder)[-1]


def test_without_the_service_installed_it_says_how_to_get_one(
    service: EmbeddedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(EmbeddedServiceFailed, match=r"pip install 'svc-jupyter\[service\]'.*SVC_BASE_URL"):
        service.find_or_start()


def test_a_data_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbeddedServiceFailed, match="set SVC_DATA_DIR to another one"):
        EmbeddedService(tmp_path / "file" / "data", program=PROGRAM).find_or_start()


def test_a_client_starts_the_service_at_its_first_call(client_of: Client, folder: Path) -> None:
    assert pids(folder) == []
    assert client_of.account.get().email == "reader@example.com"
    assert len(pids(folder)) == 1


def test_a_client_follows_a_service_that_was_killed_to_its_new_address_and_token(
    client_of: Client, folder: Path
) -> None:
    first = client_of.base_url
    kill(pids(folder)[0])
    assert client_of.account.get().id == 1
    assert client_of.base_url != first
    assert len(pids(folder)) == 2


def test_a_client_takes_a_new_token_from_a_service_that_was_restarted_by_someone_else(
    client_of: Client, folder: Path, service: EmbeddedService
) -> None:
    client_of.account.get()
    kept = (folder / "service.json").read_text()
    (folder / "service.json").write_text(json.dumps(json.loads(kept) | {"token": "outdated"}))
    with Client(config=client_of.settings, retries=QUICK) as other:
        assert other.base_url == client_of.base_url
        (folder / "service.json").write_text(kept)
        assert other.account.get().id == 1
    assert len(pids(folder)) == 1


def test_threads_of_one_client_restart_the_service_once(client_of: Client, folder: Path) -> None:
    client_of.account.get()
    kill(pids(folder)[0])
    errors: list[ConnectionFailed] = []

    def work() -> None:
        try:
            client_of.account.get()
        except ConnectionFailed as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(pids(folder)) == 2


async def test_the_asyncio_client_starts_and_follows_it_too(client_of: Client, folder: Path) -> None:
    async with AsyncClient(config=client_of.settings, retries=QUICK) as client:
        assert (await client.account.get()).id == 1
        kill(pids(folder)[0])
        assert (await client.account.get()).id == 1
    assert len(pids(folder)) == 2
