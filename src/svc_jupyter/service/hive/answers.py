"""The metastore's own exceptions, turned into the service's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from svc_jupyter.service.errors import Invalid, ServiceError, Unavailable
from svc_jupyter.service.hive.connections import HiveConnections

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

Answer = TypeVar("Answer")
_SHOWN = 500


class MetastoreError(Unavailable):
    """Something went wrong in the metastore itself."""


async def asked(hive: HiveConnections, question: Callable[[Client], Answer], missing: ServiceError) -> Answer:
    """Return the metastore's answer. Raises `missing` when what is asked about is not there.

    Raises `Invalid` for what it refuses and `Unavailable` for what goes wrong in it.
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
    """Return the first line of what an exception says."""
    told = str(getattr(error, "message", None) or error).strip()
    return told.partition("\n")[0][:_SHOWN] or type(error).__name__
