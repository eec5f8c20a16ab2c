"""The notebook's connection to its service, created at the first use, and the settings of all cells."""

from __future__ import annotations

import contextvars
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar, cast

from traitlets import Enum, Int, Unicode
from traitlets.config import Configurable

from svc_jupyter.magics.display.errors import SvcUsageError, translated_errors
from svc_jupyter.magics.session.notebook import notebook_name

if TYPE_CHECKING:
    from svc_jupyter.api.db_taps import DbTap
    from svc_jupyter.client import Client, Command, Result, Settings
    from svc_jupyter.client.commands.tables import Dtypes

T = TypeVar("T")


class Stored(NamedTuple):
    """A result in the service: its command, and which of its tables it is; see `ResultOf`."""

    command: int
    part: Mapping[str, int | str]


class Background(Generic[T]):
    """A call for another thread; the cell's thread waits for it, and can stop waiting at any time.

    It is created before it is started, so that an interrupt in between finds it. The thread is a daemon: an abandoned
    call does not prevent the process from ending.
    """

    def __init__(self, call: Callable[[], T], name: str) -> None:
        self._call = call
        self._ended = threading.Event()
        self._value: T | None = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), name=f"svc-{name}", daemon=True)

    def start(self) -> Self:
        """Begin the call."""
        self._thread.start()
        return self

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001  handed to who asks for the outcome
            self._error = error
        finally:
            self._ended.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the call for at most this long; return whether it has ended."""
        return self._ended.wait(seconds)

    def outcome(self) -> T:
        """Wait for the end; return what the call returned, or raise what it raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


class SvcMagics(Configurable):
    """Settings of the svc_jupyter magics."""

    base_url = Unicode(
        None, allow_none=True, help="Address of the service; empty: SVC_BASE_URL, the profile, or one on this machine."
    ).tag(config=True)
    profile = Unicode(None, allow_none=True, help="Profile of the configuration file to use.").tag(config=True)
    default_tap = Unicode(None, allow_none=True, help="DB tap of %%svc_db without --tap (name or id).").tag(config=True)
    default_label = Unicode(None, allow_none=True, help="Cluster label of commands without --label.").tag(config=True)
    default_time_zone = Unicode(
        None, allow_none=True, help="Time zone of %%svc_schedule without --tz, such as Europe/Paris; empty: UTC."
    ).tag(config=True)
    dtypes = Enum(
        ("nullable", "numpy"),
        "nullable",
        help="What columns of integers and booleans with a NULL become: pandas' nullable types, or floats and objects.",
    ).tag(config=True)
    load_limit = Int(
        10**9,
        min=0,
        help="Bytes in pandas up to which a result is loaded; the service keeps a larger one. 0: no limit.",
    ).tag(config=True)
    rows_shown = Int(20, min=0, help="Rows of a result that a saved notebook shows; -n overrides it.").tag(config=True)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all settings, sorted."""
        return sorted(cls.class_own_traits(config=True))


_NAMES_IN_ERROR = 10


def ask(call: Callable[[], T], name: str) -> T:
    """Make a call to the service in a thread (see `Background`) and return its answer.

    Raises SvcServiceError instead of the client's errors. `name` is the thread's, for debugging.
    """

    def call_in_words() -> T:
        with translated_errors():
            return call()

    return Background(call_in_words, name).start().outcome()


class Session:
    """The client that all cells of a notebook share. Thread-safe."""

    def __init__(self, settings: SvcMagics) -> None:
        self.settings = settings
        self._client: Client | None = None
        self._taps: dict[str, DbTap] = {}
        self._lock = threading.Lock()
        self._at_close: list[Callable[[], None]] = []
        self._stored: dict[int, tuple[weakref.ref[Any], Stored]] = {}
        self.last_result: Stored | None = None
        """That of the last cell that had one."""
        settings.observe(self._reconnect, ["base_url", "profile"])
        settings.observe(self._convert, "dtypes")

    @property
    def connected(self) -> bool:
        """Whether the client has been created."""
        return self._client is not None

    def where(self) -> Settings:
        """Return the service's address from the settings. Raises the client's ConfigurationError."""
        from svc_jupyter.client import Settings

        return Settings.load(self.settings.base_url or None, profile=self.settings.profile or None)

    def client(self) -> Client:
        """Return the client; the first call reads the configuration and sends nothing.

        Raises the client's ConfigurationError.
        """
        from svc_jupyter.client import Client

        with self._lock:
            if self._client is None:
                self._client = Client(config=self.where(), dtypes=self._dtypes)
            return self._client

    def submit(self, command_type: str, **fields: Any) -> Command:
        """Submit a command of this notebook; takes and raises what the client's `commands.submit` does."""
        return self.client().commands.submit(command_type, notebook=notebook_name(self.settings.parent), **fields)

    def reachable(self) -> bool:
        """Whether a call would reach a running service; makes no call. Raises ConfigurationError."""
        from svc_jupyter.client.address.embedded import needs_no_start

        return needs_no_start(self.where())

    def close(self) -> None:
        """Close the connection and its panels; the next use opens a new one."""
        while self._at_close:
            self._at_close.pop()()
        with self._lock:
            client, self._client = self._client, None
            self._taps.clear()
            self._stored.clear()
            self.last_result = None
        if client is not None:
            client.close()

    def remember(self, value: Any, result: Result, *, is_last: bool = False) -> None:
        """Keep in mind that a value has the rows of a stored result, and whether the last cell has it."""
        key, stored = id(value), Stored(result.record.id, result.part)
        self._stored[key] = weakref.ref(value, lambda _gone: self._stored.pop(key, None)), stored
        if is_last:
            self.last_result = stored

    def stored(self, value: Any) -> Stored | None:
        """Return the stored result that a value is; None for any other value."""
        known = self._stored.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    def at_close(self, call: Callable[[], None]) -> None:
        """Register a call to make before the connection is closed."""
        self._at_close.append(call)

    def _reconnect(self, _change: Any) -> None:
        self.close()

    @property
    def _dtypes(self) -> Dtypes:
        return cast("Dtypes", self.settings.dtypes)

    def _convert(self, _change: Any) -> None:
        with self._lock:
            if self._client is not None:
                self._client.dtypes = self._dtypes

    def tap(self, wanted: str | None) -> DbTap:
        """Return the DB tap with a name or id; without one, the only tap.

        Raises the client's NotFound with the nearest taps, or SvcUsageError with the list of taps.
        """
        key = wanted or ""
        if key not in self._taps:
            taps = self.client().db_taps
            self._taps[key] = taps.find(wanted) if wanted else self._only_tap(list(taps.iter()))
        return self._taps[key]

    def forget_tap(self, wanted: str | None) -> None:
        """Look the tap up again at its next use: another tap may have taken its name."""
        self._taps.pop(wanted or "", None)

    def forget_taps(self) -> None:
        """Look all taps up again: one was added, changed or removed."""
        self._taps.clear()

    def _only_tap(self, taps: list[DbTap]) -> DbTap:
        if len(taps) == 1:
            return taps[0]
        names = ", ".join(tap.name for tap in taps[:_NAMES_IN_ERROR]) + (" …" if len(taps) > _NAMES_IN_ERROR else "")
        there = f"There are: {names}" if taps else "The service has no DB taps yet."
        raise SvcUsageError(f"%%svc_db needs --tap NAME, or a default: %svc_config default_tap NAME. {there}")


_tables: Background[None] | None = None


def import_tables_meanwhile() -> None:
    """Import pandas and pyarrow in the background: the first result needs them, its command does not."""
    global _tables  # noqa: PLW0603  imports are the process's, once
    if _tables is None and not ("pandas" in sys.modules and "pyarrow" in sys.modules):
        _tables = Background(_import_tables, "imports").start()


def tables_imported() -> None:
    """Wait until the background imports are done."""
    if _tables is not None:
        _tables.wait()


def _import_tables() -> None:
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
