"""The service as an application: parts, routes, middleware. Read it from top to bottom to see what there is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from svc_jupyter.api.paths import COMMAND_VERSIONS, RESOURCE_VERSIONS
from svc_jupyter.service.access.group_routes import router as groups_router
from svc_jupyter.service.access.object_policy_routes import router as object_policies_router
from svc_jupyter.service.access.routes import router as access_router
from svc_jupyter.service.audit.routes import router as audit_router
from svc_jupyter.service.clusters.health_routes import router as health_router
from svc_jupyter.service.clusters.node_routes import router as nodes_router
from svc_jupyter.service.clusters.routes import router as clusters_router
from svc_jupyter.service.commands.routes import router as commands_router
from svc_jupyter.service.db_taps.routes import router as db_taps_router
from svc_jupyter.service.documentation.routes import DOCUMENT, add_documentation
from svc_jupyter.service.hive.routes import router as hive_router
from svc_jupyter.service.idempotency_middleware import IdempotentPosts
from svc_jupyter.service.notifications.routes import router as channels_router
from svc_jupyter.service.packages.routes import router as packages_router
from svc_jupyter.service.parts import Service
from svc_jupyter.service.pipelines.routes import router as pipelines_router
from svc_jupyter.service.responses import ERROR_RESPONSES, install_error_handlers
from svc_jupyter.service.route_rights import put_rights_before_validity
from svc_jupyter.service.schedules.routes import router as schedules_router
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage.routes import router as storage_router
from svc_jupyter.service.workspace.dashboard_routes import router as dashboards_router
from svc_jupyter.service.workspace.folder_routes import router as folders_router
from svc_jupyter.service.workspace.jupyter_routes import router as jupyter_contents_router
from svc_jupyter.service.workspace.note_routes import router as notes_router


def create_app(settings: Settings) -> FastAPI:
    """Return the application; its lifespan prepares, starts and stops the service.

    `server.py` puts `RequestShell` around it.
    """
    service = Service.of(settings)

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
        responses=ERROR_RESPONSES,
        separate_input_output_schemas=False,
    )
    app.state.service = service
    install_error_handlers(app)
    put_rights_before_validity(app)
    _include(app, commands_router, COMMAND_VERSIONS)
    _include(app, clusters_router, COMMAND_VERSIONS)
    _include(app, nodes_router, COMMAND_VERSIONS)
    _include(app, health_router, COMMAND_VERSIONS)
    for router in (
        access_router,
        groups_router,
        object_policies_router,
        audit_router,
        db_taps_router,
        storage_router,
        schedules_router,
        jupyter_contents_router,
        folders_router,
        notes_router,
        dashboards_router,
        channels_router,
        hive_router,
        packages_router,
        pipelines_router,
    ):
        _include(app, router, RESOURCE_VERSIONS)
    add_documentation(app)
    app.add_middleware(IdempotentPosts, service=service)
    return app


def _include(app: FastAPI, router: APIRouter, versions: tuple[str, ...]) -> None:
    """Answer under every version; the OpenAPI document shows the first, which means the same as the others."""
    for number, name in enumerate(versions):
        app.include_router(router, prefix=f"/api/{name}", include_in_schema=number == 0)
