"""A session with HiveServer2: statements, their state, their rows. Only one thread at a time may use it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any, Final

from svc_jupyter.service.ground.tls import reason_of
from svc_jupyter.service.runtimes.hive_server.endpoint import Channel, Endpoint, ServerLost
from svc_jupyter.service.runtimes.hive_server.wire import I16, I64, Struct, WireError, encoded_call, read_reply

_PROTOCOL: Final = 9
"""`HIVE_CLI_SERVICE_PROTOCOL_V10`: results come by columns."""
_SUCCESSFUL: Final = frozenset({0, 1})
_FETCH_NEXT = 0
_LOG: Final = I16(1)
_PASSWORD: Final = "-"  # noqa: S105  a login has its own, before the session
_SERVER_NAME, _DBMS_NAME, _DBMS_VERSION = 13, 17, 18


class OperationState(IntEnum):
    """The state of a statement."""

    INITIALIZED = 0
    RUNNING = 1
    FINISHED = 2
    CANCELED = 3
    CLOSED = 4
    ERROR = 5
    UNKNOWN = 6
    PENDING = 7
    TIMEDOUT = 8

    @property
    def is_over(self) -> bool:
        """Whether the state is final."""
        return self not in {OperationState.INITIALIZED, OperationState.RUNNING, OperationState.PENDING}


class ServerError(Exception):
    """The server refused a call; the text is its own."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A running statement; `handle` identifies it on any connection."""

    handle: Struct


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a statement. `share` is what is done of it, 0 to 1, where the server tells."""

    state: OperationState
    why: str
    """The server's reason for a failure."""
    share: float | None = None


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column's name and type: a number of Thrift's `TTypeId`, with the digits of decimals."""

    name: str
    type_id: int
    precision: int | None = None
    scale: int | None = None


class Session:
    """A connection with its own session; both end together, and with them what still runs."""

    def __init__(self, endpoint: Endpoint, *, seconds: float | None = None, opens: bool = True) -> None:
        """`seconds` limits each call. Without `opens` there is no session: only `cancel` works then.

        Raises `ServerLost`, `ServerError`.
        """
        self._channel: Channel = endpoint.connect(seconds)
        self._handle: Struct | None = None
        if opens:
            settings = dict(endpoint.session_settings) or None
            request = {1: _PROTOCOL, 2: endpoint.session_user, 3: _PASSWORD, 4: settings}
            try:
                opened = self._call("OpenSession", request)
            except BaseException:
                self.close()
                raise
            self._handle = opened[3]

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def execute(self, statement: str) -> Operation:
        """Start a statement asynchronously. Raises `ServerError`, `ServerLost`, as every method."""
        return Operation(self._call("ExecuteStatement", {1: self._handle, 2: statement, 4: True})[2])

    def state(self, operation: Operation) -> tuple[OperationState, str]:
        """Return the state, once it is final or after a moment; and the server's reason for a failure."""
        found = self.status(operation)
        return found.state, found.why

    def status(self, operation: Operation, *, with_progress: bool = False) -> Status:
        """Return the state, once it is final or after a moment."""
        answer = self._call("GetOperationStatus", {1: operation.handle, 2: with_progress or None})
        told = answer.get(10) or {}
        share = told.get(3) if told.get(1) else None  # without headings there is no progress
        return Status(OperationState(answer.get(2, OperationState.UNKNOWN)), _text(answer.get(5, b"")), share)

    def log(self, operation: Operation, count: int) -> list[str]:
        """Return the next lines of the server's log of a statement. `ServerError` where it keeps none."""
        answer = self._call("FetchResults", {1: operation.handle, 2: _FETCH_NEXT, 3: I64(count), 4: _LOG})
        columns = (answer.get(3) or {}).get(3) or ()
        return [_text(line) for column in columns[:1] for values in column.values() for line in values[1]]

    def columns(self, operation: Operation) -> list[ColumnType]:
        """Return the columns of the result."""
        schema = self._call("GetResultSetMetadata", {1: operation.handle}).get(2) or {}
        return [_column(described) for described in schema.get(1) or ()]

    def fetch(self, operation: Operation, count: int) -> list[tuple[Any, bytes]]:
        """Return the next rows by columns: the values, and a bitmap with a bit set per null."""
        answer = self._call("FetchResults", {1: operation.handle, 2: _FETCH_NEXT, 3: I64(count)})
        columns = (answer.get(3) or {}).get(3) or ()
        return [(values[1], values.get(2, b"")) for column in columns for values in column.values()]

    def finish(self, operation: Operation) -> None:
        """Release a statement and its rows on the server."""
        self._call("CloseOperation", {1: operation.handle})

    def cancel(self, operation: Operation) -> None:
        """Cancel a statement of any session."""
        self._call("CancelOperation", {1: operation.handle})

    def ping(self) -> None:
        """Ask the server for its name."""
        self._info(_SERVER_NAME)

    def engine(self) -> str:
        """Return the name of the server's engine: `Apache Hive`, `Spark SQL`."""
        return self._info(_DBMS_NAME)

    def version(self) -> str:
        """Return the version of the server's engine."""
        return self._info(_DBMS_VERSION)

    def close(self) -> None:
        """End the session and the connection."""
        if self._handle is not None:
            with suppress(ServerError, ServerLost):
                self._call("CloseSession", {1: self._handle})
        self.drop()

    def drop(self) -> None:
        """Close the connection without a call; the server ends the session when it notices."""
        self._handle = None
        self._channel.close()

    def _info(self, kind: int) -> str:
        told = self._call("GetInfo", {1: self._handle, 2: kind}).get(2) or {}
        return _text(told.get(1, b""))

    def _call(self, name: str, request: Mapping[int, Any]) -> Struct:
        try:
            self._channel.send(encoded_call(name, request))
            answer = read_reply(self._channel.answers)
        except EOFError:
            raise ServerLost("it closed the connection") from None
        except WireError as error:
            raise ServerError(str(error)) from error
        except OSError as error:
            raise ServerLost(reason_of(error)) from error
        status = answer.get(1) or {}
        if status.get(1) not in _SUCCESSFUL:
            raise ServerError(_text(status.get(5, b"")) or f"{name} failed with status {status.get(1)}")
        return answer


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _column(described: Mapping[int, Any]) -> ColumnType:
    entry = described[2][1][0]
    primitive = entry.get(1) or next(iter(entry.values()))
    qualifiers = (primitive.get(2) or {}).get(1) or {}
    digits = {_text(name): value.get(1) for name, value in qualifiers.items()}
    return ColumnType(_text(described[1]), int(primitive.get(1, -1)), digits.get("precision"), digits.get("scale"))
