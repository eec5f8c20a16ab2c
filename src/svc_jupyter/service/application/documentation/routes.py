"""The API's documentation at `/api/docs`: Swagger UI from the package itself, so that it works without a network."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

PATH = "/api/docs"
DOCUMENT = "/api/openapi.json"
_ASSETS = Path(__file__).parent / "assets"
_NO_ICON = "data:,"


def add_documentation(app: FastAPI) -> None:
    """Serve the page and its files; the OpenAPI document itself is at `/api/openapi.json`."""
    app.mount(f"{PATH}/assets", StaticFiles(directory=_ASSETS, check_dir=False))
    app.add_route(PATH, _page, include_in_schema=False)


async def _page(_: Request) -> Response:
    return get_swagger_ui_html(
        openapi_url=DOCUMENT,
        title="svc-jupyter API",
        swagger_js_url=f"{PATH}/assets/swagger-ui-bundle.js",
        swagger_css_url=f"{PATH}/assets/swagger-ui.css",
        swagger_favicon_url=_NO_ICON,
    )
