"""The client of a data-processing service.

::

    from svc_jupyter.client import Client

    with Client() as client:
        frame = client.commands.submit("ShellCommand", inline="echo hi").wait().result().to_pandas()

pandas and pyarrow are imported when a result is read, not before.
"""

from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.asynchronous.client import AsyncClient
from svc_jupyter.client.asynchronous.handles import AsyncCommand
from svc_jupyter.client.asynchronous.results import AsyncResult
from svc_jupyter.client.blocking.client import Client
from svc_jupyter.client.blocking.handles import Command
from svc_jupyter.client.blocking.results import Result
from svc_jupyter.client.commands.waiting import Update
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
    NotKnown,
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
from svc_jupyter.client.transport.retries import Retries

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
    "NotKnown",
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
