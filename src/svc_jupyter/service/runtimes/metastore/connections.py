"""Connections to the metastore: kept open, used by one thread at a time, off the event loop."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from svc_jupyter.service.clusters.cluster_engine import ServiceLook
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.memory import give_back
from svc_jupyter.service.runtimes.metastore.failures import MetastoreLost, MetastoreSilent
from svc_jupyter.service.runtimes.metastore.metastore import Metastore
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

_MODULE: Final = "pymetastore.hive_metastore.ThriftHiveMetastore"


def client_class() -> type[Client]:
    """Return the class of the client. The first call takes half a second: run it in a thread of its own.

    It loads 2.5 MB of generated code. Where its bytecode is not on disk, Python compiles it: malloc kept 85 of the
    110 MB that this took for the lifetime of the process.
    """
    is_loaded = _MODULE in sys.modules
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

    if not is_loaded:
        give_back()
    client: type[Client] = Client
    return client


Answer = TypeVar("Answer")
CONNECTIONS: Final = 8
CONNECT_SECONDS: Final = 2.0
ANSWER_SECONDS: Final = 20.0


class HiveConnection:
    """One connection."""

    def __init__(self, address: MetastoreAddress, *, answer_seconds: float = ANSWER_SECONDS) -> None:
        """Connect. Raises `MetastoreLost`."""
        # Loaded here, in the thread that needs it: it takes half a second, and most services never use a metastore.
        from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
        from thrift.transport.TSocket import TSocket
        from thrift.transport.TTransport import TBufferedTransport

        try:
            connected = socket.create_connection((address.host, address.port), CONNECT_SECONDS)
        except OSError as error:
            raise MetastoreLost(str(error)) from error
        connected.settimeout(answer_seconds)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.address = address
        self._socket = TSocket()
        self._socket.setHandle(connected)
        self._client: Client = client_class()(TBinaryProtocolAccelerated(TBufferedTransport(self._socket)))

    @property
    def is_open(self) -> bool:
        """Whether the other end is still connected, as far as is known without a call."""
        return bool(self._socket.isOpen())

    def ask(self, question: Callable[[Client], Answer]) -> Answer:
        """Return the answer, or raise the metastore's own exception.

        Raises `MetastoreLost`, and `MetastoreSilent` when no answer comes in time; the connection is closed then.
        """
        from thrift.protocol.TProtocol import TProtocolException
        from thrift.transport.TTransport import TTransportException

        try:
            return question(self._client)
        except (TTransportException, TProtocolException, OSError) as error:
            self.close()
            if getattr(error, "type", None) == TTransportException.TIMED_OUT or isinstance(error, TimeoutError):
                raise MetastoreSilent(str(error)) from error
            raise MetastoreLost(str(error)) from error

    def close(self) -> None:
        """Close it."""
        self._socket.close()


class HiveConnections:
    """Sends calls to the metastore, started if necessary."""

    def __init__(self, metastore: Metastore) -> None:
        self._metastore = metastore
        self._executor = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="hive")
        self._lock = threading.Lock()
        self._idle: list[HiveConnection] = []

    @property
    def is_started(self) -> bool:
        """Whether a call would not have to start the metastore."""
        return self._metastore.address is not None

    async def call(self, question: Callable[[Client], Answer]) -> Answer:
        """Return the result of `question` on the client; it is retried once when the connection breaks.

        Raises `Unavailable` when the metastore cannot be reached, and the metastore's own exceptions.
        """
        try:
            return await self._call_once(question)
        except MetastoreSilent as error:
            raise _no_answer() from error
        except MetastoreLost:
            await self._metastore.look_after()
        try:
            return await self._call_once(question)
        except MetastoreLost as error:
            raise _no_answer() from error

    async def stop(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(partial(self._executor.shutdown, wait=True, cancel_futures=True))
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    async def _call_once(self, question: Callable[[Client], Answer]) -> Answer:
        address = await self._metastore.reach()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(self._ask, address, question))

    def _ask(self, address: MetastoreAddress, question: Callable[[Client], Answer]) -> Answer:
        connection = self._take(address)
        try:
            return connection.ask(question)
        finally:
            self._give_back(connection)

    def _take(self, address: MetastoreAddress) -> HiveConnection:
        while True:
            with self._lock:
                if not self._idle:
                    break
                connection = self._idle.pop()
            if connection.address == address and connection.is_open:
                return connection
            connection.close()
        return HiveConnection(address)

    def _give_back(self, connection: HiveConnection) -> None:
        if connection.is_open:
            with self._lock:
                self._idle.append(connection)


def _no_answer() -> Unavailable:
    return Unavailable("the Hive metastore does not answer; try again in a moment")


_LOOK_SECONDS: Final = 1.5
_HEAP: Final = "svc.heap"
"""The key that `java/Handler.java` answers with the heap's used bytes and limit."""


class MetastoreProbe:
    """The `ServiceProbe` of the metastore; it has its own connection, so that no queue delays it."""

    def __init__(self, metastore: Metastore) -> None:
        self._metastore = metastore
        self._connection: HiveConnection | None = None
        self._lock = threading.Lock()

    async def look(self, instance: Instance) -> ServiceLook | None:  # noqa: ARG002  one for all clusters
        """Return the metastore's state; None when it was never needed."""
        address = self._metastore.address
        if address is None:
            return ServiceLook(is_alive=False, is_responsive=False) if self._metastore.is_wanted else None
        return await asyncio.to_thread(self._look, address)

    def close(self) -> None:
        """Close its connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _look(self, address: MetastoreAddress) -> ServiceLook:
        is_alive = self._metastore.process.is_running()
        if is_alive:
            with suppress(MetastoreLost), self._lock:
                return ServiceLook(is_alive, is_responsive=True, heap_percent=self._connected(address).ask(_heap))
        return ServiceLook(is_alive, is_responsive=False)

    def _connected(self, address: MetastoreAddress) -> HiveConnection:
        connection = self._connection
        if connection is None or connection.address != address or not connection.is_open:
            if connection is not None:
                connection.close()
            connection = self._connection = HiveConnection(address, answer_seconds=_LOOK_SECONDS)
        return connection


def _heap(client: Client) -> float:
    """Run a real request against its database; return the heap in use, in percent."""
    client.get_database("default")
    used, limit = client.getMetaConf(_HEAP).split()
    return 100 * int(used) / int(limit)
