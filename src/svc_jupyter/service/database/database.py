"""The service's database: SQLite in WAL mode or PostgreSQL, behind one small interface.

Writes of the hot paths use `write`, which commits all waiting writes together, so that a burst of submissions takes few
commits. Other code uses `begin` and `connect` from a worker thread.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from svc_jupyter.api.text import mended_value
from svc_jupyter.service.database.errors import is_away, is_broken, translated
from svc_jupyter.service.ground.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

Result = TypeVar("Result")

_AFTER_COMMIT = "svc_after_commit"
_STATEMENT_SECONDS = 30
_BATCH_LIMIT = 500
log = structlog.get_logger(__name__)
_NOW: Final = sa.select(sa.extract("epoch", sa.func.clock_timestamp()))


@dataclass
class _Write:
    work: Callable[[sa.Connection], Any]
    durable: bool
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


_Outcome = tuple[_Write, Any, BaseException | None]


class Database:
    """Connections, transactions and grouped commits. Close it with `close`."""

    def __init__(self, settings: Settings) -> None:
        self.on_sqlite = settings.on_sqlite
        self.engine = _make_engine(settings)
        self._write_engine = self.engine.execution_options(svc_write=True)
        self._group_connection: sa.Connection | None = None
        self._look_ups: sa.Connection | None = None
        self._writes: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="database-read")

    def connect(self) -> AbstractContextManager[sa.Connection]:
        """Return a connection for reading."""
        return self.engine.connect()

    @contextmanager
    def begin(self, *, durable: bool = True) -> Iterator[sa.Connection]:
        """Yield a connection in a write transaction: committed at the end, rolled back when the block raises.

        A commit that is not `durable` survives the end of this process, but on SQLite not necessarily a power cut. It
        saves the wait for the disk where the data can be recovered from other files, such as the end of a command.
        """
        with self._write_engine.connect() as connection, _transaction(connection, durable=durable):
            yield connection

    def after_commit(self, connection: sa.Connection, callback: Callable[[], None]) -> None:
        """Call `callback` once the transaction of `connection` (from `begin` or `write`) is committed.

        Its exceptions are only logged: the commit stands.
        """
        connection.info[_AFTER_COMMIT].append(callback)

    async def read(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run `work` with a connection in a worker thread; raises `DatabaseAway`."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, partial(self._read, work))
        except (DBAPIError, PoolTimeout) as error:
            raise translated(error) from error

    async def look_up(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run `work`, a look-up of a few rows by key.

        On SQLite it runs on the event loop: it takes 0.1 ms, as long as the way to another thread and back.
        """
        if not self.on_sqlite:
            return await self.read(work)
        try:
            if self._look_ups is None:
                self._look_ups = self.engine.execution_options(svc_look_up=True).connect()
            return work(self._look_ups)
        except (DBAPIError, PoolTimeout) as error:
            raise translated(error) from error

    async def write(self, work: Callable[[sa.Connection], Result], *, durable: bool = True) -> Result:
        """Run `work` in a transaction shared with other waiting writes; return after its commit.

        `work` may run a second time, in a transaction of its own, when another write of its group fails: it must not
        change anything but the database. Raises what `work` raises, or `DatabaseAway`; a commit whose connection broke
        may have succeeded.
        """
        loop = asyncio.get_running_loop()
        item = _Write(work, durable, loop.create_future(), loop)
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_forever, name="database-write", daemon=True)
            self._writer.start()
        self._writes.put(item)
        try:
            return await item.future  # type: ignore[no-any-return]
        except (DBAPIError, PoolTimeout) as error:
            raise translated(error) from error

    def close(self) -> None:
        """Finish the waiting writes and close all connections."""
        if self._writer is not None:
            self._writes.put(None)
            self._writer.join(timeout=_STATEMENT_SECONDS)
        self._readers.shutdown(wait=True, cancel_futures=True)
        for connection in (self._look_ups, self._group_connection):
            if connection is not None:
                connection.close()
        self.engine.dispose()

    def _read(self, work: Callable[[sa.Connection], Result]) -> Result:
        with self.engine.connect() as connection:
            return work(connection)

    def _write_forever(self) -> None:
        while (item := self._writes.get()) is not None:
            group = [item]
            stopping = False
            with suppress(queue.Empty):
                while len(group) < _BATCH_LIMIT:
                    following = self._writes.get_nowait()
                    if following is None:
                        stopping = True
                        break
                    group.append(following)
            self._commit(group)
            if stopping:
                return

    def _commit(self, group: list[_Write]) -> BaseException | None:
        """Commit a group of writes together and notify their callers; return the error of a single failed write."""
        try:
            with self._begin_group(durable=any(item.durable for item in group)) as connection:
                outcomes: list[_Outcome] = [(item, item.work(connection), None) for item in group]
        except Exception as error:  # noqa: BLE001  handed to the waiting caller, whatever it is
            if len(group) > 1 and not is_broken(error):
                self._commit_one_by_one(group)
                return None
            outcomes = [(item, None, error) for item in group]
        self._resolve(group[0].loop, outcomes)
        return outcomes[0][2]

    @contextmanager
    def _begin_group(self, *, durable: bool) -> Iterator[sa.Connection]:
        """Like `begin`; on SQLite with a kept connection, since opening one takes as long as the statements."""
        if not self.on_sqlite:
            with self.begin(durable=durable) as connection:
                yield connection
            return
        if self._group_connection is None:
            self._group_connection = self._write_engine.connect()
        with _transaction(self._group_connection, durable=durable):
            yield self._group_connection

    def _commit_one_by_one(self, group: list[_Write]) -> None:
        """Repeat the writes of a failed group one by one; once the database is away, the rest fails too."""
        for number, item in enumerate(group):
            error = self._commit([item])
            if isinstance(error, Exception) and is_away(error):
                self._resolve(item.loop, [(left, None, error) for left in group[number + 1 :]])
                return

    @staticmethod
    def _resolve(loop: asyncio.AbstractEventLoop, outcomes: Sequence[_Outcome]) -> None:
        with suppress(RuntimeError):  # the loop is closed: no caller waits
            loop.call_soon_threadsafe(_settle, outcomes)


@contextmanager
def _transaction(connection: sa.Connection, *, durable: bool) -> Iterator[None]:
    """Run the block in a transaction, and the callbacks of `Database.after_commit` after its commit."""
    connection.execution_options(svc_durable=durable)
    callbacks: list[Callable[[], None]] = []
    connection.info[_AFTER_COMMIT] = callbacks
    with connection.begin():
        yield
    for callback in callbacks:
        try:
            callback()
        except Exception:  # the commit stands: run the other callbacks, and do not let the caller repeat it
            log.exception("after_commit_failed", callback=getattr(callback, "__qualname__", repr(callback)))


def _settle(outcomes: Sequence[_Outcome]) -> None:
    for item, value, error in outcomes:
        if item.future.done():
            continue
        if error is None:
            item.future.set_result(value)
        else:
            item.future.set_exception(error)


def _from_json(text: str | bytes) -> Any:
    """Return a stored value in valid Unicode, even if an invalid text was stored: it must not break a whole list."""
    value = json.loads(text)
    escape = b"\\ud" if isinstance(text, bytes) else "\\ud"  # as `json` writes it
    return mended_value(value) if escape in text else value  # type: ignore[operator]  # both of one type


def _make_engine(settings: Settings) -> sa.Engine:
    if settings.on_sqlite:
        engine = sa.create_engine(
            settings.sqlalchemy_url,
            json_deserializer=_from_json,
            pool_size=8,
            max_overflow=32,
            connect_args={"check_same_thread": False, "timeout": _STATEMENT_SECONDS},
        )
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    return sa.create_engine(
        settings.sqlalchemy_url,
        json_deserializer=_from_json,
        pool_size=8,
        max_overflow=24,
        pool_pre_ping=True,
        pool_timeout=10,
        connect_args={
            "connect_timeout": 5,
            "options": f"-c statement_timeout={_STATEMENT_SECONDS}s -c lock_timeout=10s -c timezone=UTC",
            "application_name": "svc-jupyter",
        },
    )


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # the transactions begin in `_begin_sqlite`
    for pragma in ("journal_mode=WAL", "foreign_keys=ON", "cache_size=-8000"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    """Begin a transaction; a write takes its lock at once: upgrading a read lock later fails when two do so.

    With full synchronisation an acknowledged submission survives a power cut, at the cost of an fsync.
    """
    options = connection.get_execution_options()
    if options.get("svc_look_up"):
        return  # a single statement reads the current commit
    if not options.get("svc_write"):
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options['svc_durable'] else 'NORMAL'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def conflict_insert(connection: sa.Connection, table: sa.Table) -> SqliteInsert | PostgresInsert:
    """Return the database's insert with `on_conflict_do_nothing` and `on_conflict_do_update`.

    Only the dialect in use is imported: PostgreSQL's takes a tenth of the start of a service on SQLite.
    """
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert

        return insert(table)
    from sqlalchemy.dialects.postgresql import insert as postgres_insert

    return postgres_insert(table)


def database_clock(connection: sa.Connection) -> float:
    """Return the time of the clock that all replicas share; on SQLite there is one replica."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(_NOW).scalar_one())
