import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.service_process import wait_until

from svc_jupyter.service.macros import sandbox as macro_sandbox
from svc_jupyter.service.macros.macros import MacroError, resolve
from svc_jupyter.service.macros.sandbox import MacroEngineError, MacroSandbox

NOMINAL_TIME = datetime(2024, 3, 5, tzinfo=UTC)
DEADLINE_SECONDS = 30


def workers() -> list[psutil.Process]:
    """Return this process's living macro workers; children of other tests may be ended and not yet collected."""
    living = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # also of a zombie
            if "macros/worker.py" in " ".join(child.cmdline()):
                living.append(child)
    return living


@pytest.fixture
def own_sandbox():
    before = {worker.pid for worker in workers()}
    sandbox = MacroSandbox(workers=2, waiting=2)
    yield sandbox
    sandbox.close()
    assert {worker.pid for worker in workers()} <= before


def value(sandbox: MacroSandbox, expression: str) -> Any:
    return resolve([{"x": expression}], NOMINAL_TIME, sandbox=sandbox)[0]["x"]


def new_workers(before: set[int]) -> list[psutil.Process]:
    return [worker for worker in workers() if worker.pid not in before]


def test_no_process_is_started_before_the_first_macro(own_sandbox: MacroSandbox) -> None:
    before = {worker.pid for worker in workers()}
    assert resolve([], NOMINAL_TIME, sandbox=own_sandbox) == []
    with pytest.raises(MacroError):
        value(own_sandbox, "")
    assert new_workers(before) == []


def test_one_worker_serves_one_caller_after_the_other(own_sandbox: MacroSandbox) -> None:
    before = {worker.pid for worker in workers()}
    assert [value(own_sandbox, str(number)) for number in range(20)] == list(range(20))
    assert len(new_workers(before)) == 1


def test_many_threads_share_two_workers_and_get_their_own_answers() -> None:
    before = {worker.pid for worker in workers()}
    sandbox = MacroSandbox(workers=2, waiting=100)
    try:
        with ThreadPoolExecutor(16) as threads:
            answers = list(threads.map(lambda number: value(sandbox, f"{number} * 2"), range(100)))
        assert answers == [2 * number for number in range(100)]
        assert 1 <= len(new_workers(before)) <= 2
    finally:
        sandbox.close()
    assert new_workers(before) == []


def test_a_worker_knows_nothing_of_the_services_environment(
    own_sandbox: MacroSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", "s3cret")
    before = {worker.pid for worker in workers()}
    value(own_sandbox, "1")
    (worker,) = new_workers(before)
    assert not {name for name in worker.environ() if name.startswith("SVC_")}
    assert worker.environ()["TZ"] == "UTC"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_worker_that_died_is_replaced(own_sandbox: MacroSandbox, number: signal.Signals) -> None:
    before = {worker.pid for worker in workers()}
    value(own_sandbox, "1")
    (worker,) = new_workers(before)
    worker.send_signal(number)
    assert value(own_sandbox, "2") == 2
    assert worker.pid not in {other.pid for other in workers()}


def test_a_worker_that_is_stuck_is_ended_and_replaced(
    own_sandbox: MacroSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {worker.pid for worker in workers()}
    value(own_sandbox, "1")
    (worker,) = new_workers(before)
    worker.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(macro_sandbox, "REPLY_SECONDS", 0.2)
    with pytest.raises(MacroEngineError, match="did not answer") as failure:
        value(own_sandbox, "1")
    assert failure.value.status == 503
    assert failure.value.retry_after is not None
    monkeypatch.undo()
    assert value(own_sandbox, "2") == 2


def test_a_macro_that_the_kernel_stopped_leaves_no_process(own_sandbox: MacroSandbox) -> None:
    before = {worker.pid for worker in workers()}
    with pytest.raises(MacroError, match="processor time"):
        value(own_sandbox, "Array(1e9).join()")
    (worker,) = new_workers(before)
    assert worker.children() == []
    assert value(own_sandbox, "1") == 1
    assert new_workers(before) == [worker]


def test_callers_beyond_the_queue_are_turned_away() -> None:
    sandbox = MacroSandbox(workers=1, waiting=1)

    def call() -> str:
        try:
            value(sandbox, "(() => { for (;;); })()")
        except MacroEngineError:
            return "turned away"
        except MacroError:
            return "stopped"
        return "answered"

    try:
        with ThreadPoolExecutor(1) as threads:
            with sandbox._place():
                waiting = threads.submit(call)
                wait_until(lambda: sandbox._queue._value == 0, "the caller that waits")
                assert call() == "turned away"
            assert waiting.result() == "stopped"
        assert value(sandbox, "1") == 1
    finally:
        sandbox.close()


def test_a_caller_does_not_wait_for_ever(own_sandbox: MacroSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(macro_sandbox, "WAITING_SECONDS", 0.01)
    with own_sandbox._place(), own_sandbox._place(), pytest.raises(MacroEngineError, match="no macro engine was free"):
        value(own_sandbox, "1")
    assert value(own_sandbox, "1") == 1


def test_a_closed_sandbox_starts_again(own_sandbox: MacroSandbox) -> None:
    value(own_sandbox, "1")
    own_sandbox.close()
    assert value(own_sandbox, "2") == 2


def test_missing_libraries_say_what_to_do(
    own_sandbox: MacroSandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(macro_sandbox, "SCRIPTS", (tmp_path / "moment.min.js",))
    with pytest.raises(MacroEngineError, match=r"need moment\.min\.js: .* run pip install"):
        value(own_sandbox, "1")


def test_libraries_that_do_not_load_are_an_error_of_the_engine(
    own_sandbox: MacroSandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "moment.min.js"
    broken.write_text("this is not JavaScript")
    monkeypatch.setattr(macro_sandbox, "SCRIPTS", (broken,))
    with pytest.raises(MacroEngineError, match="does not start"):
        value(own_sandbox, "1")


def test_a_missing_engine_says_what_to_do(own_sandbox: MacroSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MacroEngineError, match=r"quickjs-ng: pip install"):
        value(own_sandbox, "1")


SERVICE = """
import sys, time
from datetime import UTC, datetime
import psutil
from svc_jupyter.service.macros.macros import resolve
resolve([{"x": "1"}], datetime.now(UTC))
print(*[child.pid for child in psutil.Process().children()], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("by", ["its end", "kill -9"])
def test_workers_end_with_the_service(by: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SERVICE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as service:
        assert service.stdin is not None
        assert service.stdout is not None
        assert service.stderr is not None
        try:
            (worker,) = [psutil.Process(int(pid)) for pid in service.stdout.readline().split()]
            if by == "kill -9":
                os.kill(service.pid, signal.SIGKILL)
            else:
                service.stdin.close()
            gone, alive = psutil.wait_procs([worker], timeout=DEADLINE_SECONDS)
            assert (len(gone), alive) == (1, [])
            assert service.stderr.read() == b""
        finally:
            service.kill()
