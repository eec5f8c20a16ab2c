"""The service as an application: the routes of its rooms, and middleware."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib.metadata import version

from fastapi import FastAPI

from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.route_rights import put_rights_before_validity
from svc_jupyter.service.application.documentation.routes import DOCUMENT, add_documentation
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.http.idempotency import Idempotency
from svc_jupyter.service.http.idempotency_middleware import IdempotentPosts
from svc_jupyter.service.http.responses import install_error_handlers
from svc_jupyter.service.http.versions import OtherVersions


def create_app(service: Service) -> FastAPI:
    """Return the application; its lifespan prepares, starts and stops the service.

    `server.py` wraps it in `RequestShell`.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            await asyncio.to_thread(service.prepare)
            await service.start()
            yield
        finally:
            await service.stop()

    app = FastAPI(
        title="svc-jupyter",
        summary="Commands on clusters, from a notebook",
        version=version("svc-jupyter"),
        docs_url=None,
        redoc_url=None,
        openapi_url=DOCUMENT,
        lifespan=lifespan,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    app.state.parts = service.parts
    install_error_handlers(app)
    put_rights_before_validity(app)
    routes = [route for room in service.rooms for router in room.routers for route in router.routes]
    # They are tried in their order: those of commands, which nearly all requests are for, come first. `include_router`
    # would build each a second time, at its first request.
    app.routes.extend(sorted(routes, key=lambda route: "/commands" not in getattr(route, "path", "")))
    add_documentation(app)
    app.add_middleware(
        IdempotentPosts, answers=service.parts[Idempotency], user_of=service.parts[Access].tokens.user_id
    )
    app.add_middleware(OtherVersions)
    return app
