"""Serving: the socket, the ready line, service.json, signals, and the end of an idle embedded service."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version

import structlog
import uvicorn
from sqlalchemy.exc import DBAPIError

from svc_jupyter.files import keep_files_private
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.data_folder.data_folder import DataFolder
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.logging import configure_logging
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.connections import KEEP_ALIVE_SECONDS, Connections, connection_class
from svc_jupyter.service.http.middleware import RequestShell
from svc_jupyter.service.isolation.isolation import Isolation
from svc_jupyter.service.monitoring.figures import Figures
from svc_jupyter.service.processes.protection import hide_from_commands

_IDLE_LOOK_SECONDS = 15.0
_GRACE_SECONDS = 5
_TICKS_PER_SECOND = 10
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  a service that listens everywhere listens there, too
_SWITCH_SECONDS = 0.0005
"""With Python's default of 5 ms, a busy worker thread can block the event loop for that long at each hop."""
log = structlog.get_logger(__name__)


class PortTakenError(Exception):
    """Another program uses the address."""


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal, or until idle when embedded; `announce` gets the base address once it answers.

    Raises `DataFolderTakenError`, `PortTakenError`, `OSError` and `RuntimeError` (a database that is newer, away, or of
    another data folder).
    """
    configure_logging(settings.log_level)
    hide_from_commands()
    keep_files_private()
    if os.geteuid() == 0:
        log.warning(
            "runs_as_root",
            meaning="users' programs that are not isolated can do anything on this machine, and isolated ones can read "
            "what only root may read in /etc: give the service a user of its own",
        )
    Isolation.of(settings).say()
    folder = DataFolder(settings)
    folder.open()
    try:
        with _listen(settings) as listener:
            _Server(settings, folder, announce, listener).run(sockets=[listener])
    finally:
        folder.close()


class _Server(uvicorn.Server):
    """A uvicorn server that announces its address, limits its connections and, when embedded, stops when idle."""

    def __init__(
        self, settings: Settings, folder: DataFolder, announce: Callable[[str], None], listener: socket.socket
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._announce = announce
        self._service = Service.of(settings, _base_url(listener, of_this_machine=True))
        app = create_app(self._service)
        self._shell = RequestShell(
            app, settings, self._service.parts[Access].tokens.caller, self._service.parts[Figures]
        )
        self._connections = Connections(settings)
        super().__init__(
            uvicorn.Config(
                self._shell,
                loop="asyncio",
                http=connection_class(self._connections),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=bool(settings.trusted_proxies),
                forwarded_allow_ips=settings.trusted_proxies,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGINT and SIGTERM. uvicorn would raise the signal again, so that a stop would look like a crash."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce the address. Raises `RuntimeError` where uvicorn would exit with a traceback."""
        try:
            await asyncio.to_thread(self._service.prepare)
            await super().startup(sockets)
        except DBAPIError as error:
            raise RuntimeError(f"the database cannot be used: {str(error.orig).strip()}") from None
        except SystemExit:
            raise RuntimeError("the service could not start; the lines above say why") from None
        assert sockets is not None
        base_url = _base_url(sockets[0])
        await asyncio.to_thread(self._announce_address, base_url)
        sys.setswitchinterval(_SWITCH_SECONDS)
        gc.freeze()
        self._announce(base_url)
        if self._settings.embedded:
            self._idler = asyncio.create_task(self._stop_when_idle(), name="idler")

    def _announce_address(self, base_url: str) -> None:
        with self._folder.turn_to_announce() as is_free:
            if is_free:
                token = self._service.parts[Access].tokens.ensure_service_token(self._folder.read_token())
                self._folder.announce(base_url, token, version("svc-jupyter"))

    async def on_tick(self, counter: int) -> bool:
        """Check the connections once a second."""
        if counter % _TICKS_PER_SECOND == 0:
            self._connections.look(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Release waiting requests first, so that a stop does not take as long as the longest wait."""
        self._service.release_calls()
        await super().shutdown(sockets)

    async def _stop_when_idle(self) -> None:
        limit = self._settings.idle_stop_seconds
        while True:
            await asyncio.sleep(min(_IDLE_LOOK_SECONDS, limit))
            idle = time.monotonic() - self._shell.last_request
            is_needed = self._shell.open_requests or self._service.parts[Runner].is_busy
            if idle >= limit and not is_needed and not await _has_work_to_come(self._service):
                log.info("stopping_when_idle", idle_seconds=round(idle))
                self.should_exit = True
                return


async def _has_work_to_come(service: Service) -> bool:
    try:
        return await service.is_needed()
    except Unavailable:
        return True


def _base_url(listener: socket.socket, *, of_this_machine: bool = False) -> str:
    """Return the address of a socket; with `of_this_machine`, one that programs on this machine can call."""
    host, port = listener.getsockname()[:2]
    if of_this_machine:
        host = _LOOPBACK.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listen(settings: Settings) -> contextlib.AbstractContextManager[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY only then
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"port {settings.port} of {settings.host} is in use by another program; stop it, or give another "
                "--port (0 takes a free one)"
            ) from None
        raise
    return listener
