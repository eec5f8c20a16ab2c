"""Translates the metastore's exceptions into the service's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from svc_jupyter.service.ground.errors import Invalid, ServiceError, Unavailable
from svc_jupyter.service.runtimes.metastore.connections import HiveConnections

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

Answer = TypeVar("Answer")
_SHOWN = 500


class MetastoreError(Unavailable):
    """An internal error of the metastore."""


async def asked(hive: HiveConnections, question: Callable[[Client], Answer], missing: ServiceError) -> Answer:
    """Return the metastore's answer. Raises `missing` if the object does not exist.

    Raises `Invalid` when it refuses, and `Unavailable` for its internal errors.
    """
    return await hive.call(partial(_answer, question, missing))


def _answer(question: Callable[[Client], Answer], missing: ServiceError, client: Client) -> Answer:
    from pymetastore.hive_metastore import ttypes
    from thrift.protocol.TProtocol import TProtocolException
    from thrift.Thrift import TException
    from thrift.transport.TTransport import TTransportException

    try:
        return question(client)
    except (TTransportException, TProtocolException):
        raise
    except (ttypes.NoSuchObjectException, ttypes.UnknownDBException, ttypes.UnknownTableException) as error:
        raise missing from error
    except (ttypes.InvalidOperationException, ttypes.InvalidObjectException, ttypes.InvalidInputException) as error:
        raise Invalid(f"the Hive metastore refuses it: {_text(error)}") from error
    except TException as error:
        raise MetastoreError(f"the Hive metastore failed: {_text(error)}") from error


def _text(error: Exception) -> str:
    """Return the first line of an exception's message."""
    told = str(getattr(error, "message", None) or error).strip()
    return told.partition("\n")[0][:_SHOWN] or type(error).__name__
