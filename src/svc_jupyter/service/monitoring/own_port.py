"""A loopback port of its own for the figures, where they need no token."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from svc_jupyter.service.monitoring.monitoring import Monitoring
from svc_jupyter.service.monitoring.routes import health, metrics_of, readiness_of

_HOST = "127.0.0.1"
_GRACE_SECONDS = 1


class OwnPort:
    """Serves the figures and checks at a port of this machine; does nothing without one."""

    def __init__(self, monitoring: Monitoring, port: int | None) -> None:
        self._monitoring = monitoring
        self._port = port
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen. Raises `RuntimeError` when the port is taken."""
        if self._port is None:
            return
        try:
            listener = socket.create_server((_HOST, self._port))
        except OSError as error:
            raise RuntimeError(
                f"SVC_METRICS_PORT: the port {self._port} of {_HOST} cannot be used ({error.strerror}); "
                "give another one, or stop the program that uses it"
            ) from None
        app = Starlette(
            routes=[Route("/healthz", health), Route("/readyz", self._readiness), Route("/metrics", self._metrics)]
        )
        self._server = _Server(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]), name="metrics")

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await asyncio.gather(self._serving, return_exceptions=True)

    async def _metrics(self, _: Request) -> Response:
        return await metrics_of(self._monitoring)

    async def _readiness(self, _: Request) -> Response:
        return await readiness_of(self._monitoring, with_details=False)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the service's own server."""
        yield
