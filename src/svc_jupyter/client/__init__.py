"""The client of a data-processing service.

::

    from svc_jupyter.client import Client

    with Client() as client:
        frame = client.commands.submit("ShellCommand", inline="echo hi").wait().result().to_pandas()

pandas and pyarrow are imported when a result is read, not before.
"""

from svc_jupyter.client.async_client import AsyncClient
from svc_jupyter.client.async_handles import AsyncCommand
from svc_jupyter.client.async_results import AsyncResult
from svc_jupyter.client.client import Client
from svc_jupyter.client.config import Settings
from svc_jupyter.client.errors import (
    BadRequest,
    ClusterFailed,
    CommandCancelled,
    CommandEnded,
    CommandFailed,
    ConfigurationError,
    Conflict,
    ConnectionFailed,
    EmbeddedServiceFailed,
    Forbidden,
    Invalid,
    NotFound,
    NotUnique,
    PayloadTooLarge,
    ResultUnavailable,
    ServerError,
    ServiceUnavailable,
    StatusError,
    SvcError,
    TooManyRequests,
    Unauthorized,
    UnexpectedAnswer,
    WaitTimeout,
)
from svc_jupyter.client.handles import Command
from svc_jupyter.client.results import Result
from svc_jupyter.client.retries import Retries
from svc_jupyter.client.waiting import Update

__all__ = [
    "AsyncClient",
    "AsyncCommand",
    "AsyncResult",
    "BadRequest",
    "Client",
    "ClusterFailed",
    "Command",
    "CommandCancelled",
    "CommandEnded",
    "CommandFailed",
    "ConfigurationError",
    "Conflict",
    "ConnectionFailed",
    "EmbeddedServiceFailed",
    "Forbidden",
    "Invalid",
    "NotFound",
    "NotUnique",
    "PayloadTooLarge",
    "Result",
    "ResultUnavailable",
    "Retries",
    "ServerError",
    "ServiceUnavailable",
    "Settings",
    "StatusError",
    "SvcError",
    "TooManyRequests",
    "Unauthorized",
    "UnexpectedAnswer",
    "Update",
    "WaitTimeout",
]
