"""Answers: fast JSON, the error envelope, and its content for every kind of error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic_core import PydanticSerializationError, to_json
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from svc_jupyter.api.errors import ErrorEnvelope
from svc_jupyter.api.text import mended_value
from svc_jupyter.service.database.errors import translated
from svc_jupyter.service.ground.errors import ServiceError, Unavailable
from svc_jupyter.service.http.validation import explain_all, fields_of
from svc_jupyter.service.http.versions import requested_path

log = structlog.get_logger(__name__)
_ERROR_TEXTS = {
    400: "The body is not JSON",
    401: "The token is missing or wrong",
    403: "The caller is not allowed to do this; the message says which permission is missing",
    404: "There is no such object",
    405: "The path does not take this method",
    409: "The object's state forbids the operation",
    413: "The body is too large",
    415: "The body is neither JSON nor a form",
    422: "A field is invalid, or a command cannot be created",
    429: "Too many requests; see Retry-After",
    503: "The service is stopping or its database is away; see Retry-After",
}
_ENVELOPE = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorEnvelope.__name__}"}}}
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: {"description": text, "content": _ENVELOPE} for status, text in _ERROR_TEXTS.items()},
    401: {"description": _ERROR_TEXTS[401], "model": ErrorEnvelope},
}
"""The error responses of every operation, for the OpenAPI document.

One names the model and the others refer to it: FastAPI prepares a model anew for each response of each route, which
was a fifth of the service's start.
"""


def json_response(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return JSON without a response model: the service builds the records itself."""
    return Response(as_json(content), status, headers, media_type="application/json")


def as_json(content: Any) -> bytes:
    """Return JSON in valid Unicode, even if texts in the content are not."""
    try:
        return to_json(content)
    except (PydanticSerializationError, UnicodeEncodeError):
        return to_json(mended_value(content))


def error_response(
    status: int,
    message: str,
    trace_id: str,
    retry_after: int | None = None,
    fields: Mapping[str, str] | None = None,
) -> Response:
    """Return the error envelope; `error_code` equals the HTTP status."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    error: dict[str, Any] = {"error_code": status, "error_message": message, "trace_id": trace_id}
    if fields:
        error["fields"] = dict(fields)
    return json_response({"error": error}, status, headers)


def install_error_handlers(app: FastAPI) -> None:
    """Install the handlers that put every error into the envelope."""
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)


def answer_to(request: Request, error: Exception) -> Response:
    """Return the envelope for an error, also outside the routes."""
    handler = next(handler for kind, handler in _HANDLERS.items() if isinstance(error, kind))
    return handler(request, error)


def _trace_id(request: Request) -> str:
    trace_id: str = request.scope.get("state", {}).get("trace_id", "")
    return trace_id


def _on_service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return error_response(error.status, error.message, _trace_id(request), error.retry_after, error.fields)


def _on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    if any(item["type"] == "json_invalid" for item in errors):
        return error_response(400, "the body is not JSON", _trace_id(request))
    return error_response(422, explain_all(errors), _trace_id(request), fields=fields_of(errors))


def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        text = f"there is nothing at {requested_path(request)}"
    elif error.status_code == 405:
        text = f"{requested_path(request)} does not take {request.method}"
    elif error.status_code == 400:
        text = "the body is not JSON"
    else:
        text = str(error.detail)
    response = error_response(error.status_code, text, _trace_id(request))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(_methods_at(request))
    return response


def _methods_at(request: Request) -> list[str]:
    """Return every method of a path: the router returns only those of its first route."""
    path = request.scope["path"]
    routes = [route for route in request.app.routes if isinstance(route, APIRoute) and route.path_regex.match(path)]
    named = [route for route in routes if route.path == path] or routes
    return sorted({method for route in named for method in route.methods or ()})


def _on_database_error(request: Request, error: Exception) -> Response:
    gone = translated(error)
    if isinstance(gone, Unavailable):
        return error_response(gone.status, gone.message, _trace_id(request), gone.retry_after)
    return _on_bug(request, error)


def _on_bug(request: Request, error: Exception) -> Response:
    trace_id = _trace_id(request)
    log.error("unexpected_error", trace_id=trace_id, exc_info=error)
    return error_response(500, f"an error of the service itself; its log has it under trace id {trace_id}", trace_id)


_HANDLERS: dict[type[Exception], Callable[[Request, Exception], Response]] = {
    ServiceError: _on_service_error,
    RequestValidationError: _on_validation_error,
    HTTPException: _on_http_exception,
    DBAPIError: _on_database_error,
    PoolTimeout: _on_database_error,
    Exception: _on_bug,
}
"""The handlers by error; the last one takes all others."""
