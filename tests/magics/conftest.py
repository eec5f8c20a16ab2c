"""A real shell, as a notebook's and as a terminal's, and a double of the service with and without our extensions."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from tests.support.bare_front import BareFront
from tests.support.double.service import TOKEN, ServiceDouble
from tests.support.service_process import ServiceProcess
from tests.support.service_process import wait_until as wait_until_true
from tests.support.workplace import Workplace
from traitlets.config import Config

from svc_jupyter import load_ipython_extension, unload_ipython_extension
from svc_jupyter.api.result_rows import ColumnSummary
from svc_jupyter.client.blocking.commands import Commands


class RecordingPublisher(DisplayPublisher):
    """Keeps what is displayed, as a front end would have received it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sent: list[dict[str, Any]] = []

    def publish(self, data: Any, metadata: Any = None, **more: Any) -> None:
        self.sent.append({"text": data.get("text/plain"), "data": data, **more})


class NotebookShell(InteractiveShell):
    """A shell as ipykernel makes one, as far as the magics look at it; the real one is tested in tests/integration."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kernel = object()
        self.watched = True

    def get_parent(self) -> dict[str, Any]:
        return {"content": {"allow_stdin": self.watched}}

    def init_display_pub(self) -> None:
        self.display_pub = RecordingPublisher(parent=self)


class Notebook:
    """A shell to run cells in, with what its front end has seen."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.hook = CapturingDisplayHook(shell=shell)
        self.error_lines: list[str] = []
        shell._showtraceback = self._keep_error  # type: ignore[method-assign]

    def _keep_error(self, _kind: Any, _value: Any, lines: list[str]) -> None:
        self.error_lines = lines

    @property
    def error_text(self) -> str:
        return "\n".join(self.error_lines)

    @property
    def lines(self) -> list[str]:
        """The texts displayed so far."""
        return [sent["text"] for sent in self.shell.display_pub.sent]

    @property
    def result_data(self) -> dict[str, Any]:
        """What the front end got as the last cell's value."""
        data: dict[str, Any] = self.shell.display_formatter.format(self.shell.user_ns["_"])[0]
        return data

    def run(self, cell: str) -> ExecutionResult:
        """Run a cell; its error, if any, is in the result."""
        self.error_lines = []
        return self.shell.run_cell(cell, store_history=True)

    def displayed(self, cell: str) -> dict[str, Any]:
        """Run a cell that must succeed and return its value's representations by media type."""
        [data] = self.displays(cell)
        return data

    def displays(self, cell: str) -> list[dict[str, Any]]:
        """Run a cell that must succeed and return what its value is displayed as: once, or not at all."""
        sent: list[dict[str, Any]] = []
        hook = self.shell.displayhook
        original = hook.write_format_data
        hook.write_format_data = lambda data, _metadata=None: sent.append(data)
        try:
            self.value(cell)
        finally:
            hook.write_format_data = original
        return sent

    def value(self, cell: str) -> Any:
        """Run a cell that must succeed and return its value."""
        result = self.run(cell)
        result.raise_error()
        return result.result

    def error(self, cell: str) -> BaseException:
        """Run a cell that must fail and return its error."""
        error = self.run(cell).error_in_exec
        assert error is not None, "the cell succeeded"
        return error


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Any]]:
    """The command and the table of each `%svc_plot -x n`, which the service answers for an empty histogram."""
    asked: list[tuple[int, Any]] = []

    def column_summary(_self: Commands, command: int, column: str, **wanted: Any) -> ColumnSummary:
        asked.append((command, wanted["part"]))
        return ColumnSummary(name=column, type="integer", count=0, nulls=0, distinct=0)

    monkeypatch.setattr(Commands, "column_summary", column_summary)
    return asked


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[ServiceDouble]:
    """The double with our extensions; for a test that is marked `both_services` also without any."""
    with ServiceDouble(bare=getattr(request, "param", False), first_command=128) as double:
        yield double


@pytest.fixture
def bare_service() -> Iterator[ServiceDouble]:
    """The double without our extensions."""
    with ServiceDouble(bare=True, first_command=128) as double:
        yield double


def interrupt_when(happened: Callable[[], object]) -> threading.Thread:
    """Send SIGINT to this process, as a kernel's manager does, as soon as something has happened."""

    def send() -> None:
        happened()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt in the main thread, as in a kernel."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def wait_until() -> Callable[[Callable[[], object]], None]:
    """Wait until a claim holds, with a deadline."""
    return wait_until_true


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home without any setting of the machine."""
    for name in ("SVC_BASE_URL", "SVC_API_TOKEN", "SVC_PROFILE", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("SVC_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def _shell(kind: type[InteractiveShell]) -> Iterator[Notebook]:
    config = Config()
    config.HistoryManager.enabled = False
    config.IPCompleter.use_jedi = False  # slow at its first use, and no part of what is tested
    InteractiveShell.clear_instance()
    shell = kind.instance(config=config)
    load_ipython_extension(shell)
    try:
        yield Notebook(shell)
    finally:
        unload_ipython_extension(shell)
        kind.clear_instance()


@pytest.fixture
def unconnected(home: Path) -> Iterator[Notebook]:
    """A notebook with the extension loaded and no service configured."""
    yield from _shell(NotebookShell)


@pytest.fixture
def notebook_of(unconnected: Notebook, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Notebook]:
    """Connect the notebook to a certain double."""

    def connect(service: ServiceDouble) -> Notebook:
        monkeypatch.setenv("SVC_BASE_URL", service.base_url)
        monkeypatch.setenv("SVC_API_TOKEN", TOKEN)
        return unconnected

    return connect


@pytest.fixture
def notebook(service: ServiceDouble, notebook_of: Callable[[Any], Notebook]) -> Notebook:
    """A notebook connected to the double."""
    return notebook_of(service)


@pytest.fixture
def terminal(home: Path, service: ServiceDouble, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    """An `ipython` in a terminal, connected to the double with our extensions."""
    monkeypatch.setenv("SVC_BASE_URL", service.base_url)
    monkeypatch.setenv("SVC_API_TOKEN", TOKEN)
    yield from _shell(InteractiveShell)


@pytest.fixture
def workplace(shared_service: ServiceProcess) -> Iterator[Workplace]:
    """A folder of the test's own in a real service."""
    place = Workplace(shared_service)
    yield place
    place.close()


@pytest.fixture
def at_work(workplace: Workplace, unconnected: Notebook, monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """A notebook connected to the real service."""
    monkeypatch.setenv("SVC_BASE_URL", workplace.service.base_url)
    monkeypatch.setenv("SVC_API_TOKEN", workplace.service.token)
    return unconnected


@pytest.fixture
def at_bare_work(at_work: Notebook, workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    """The same without our extensions."""
    with BareFront(workplace.service.base_url) as front:
        monkeypatch.setenv("SVC_BASE_URL", front.base_url)
        yield at_work
