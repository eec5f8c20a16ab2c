"""A session with a Spark Connect server, by pyspark's own client.

That client sends a statement again when it does not know whether the server has got it. The server may have been
restarted after it ran the statement, so here each is sent once.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import grpc
from pyspark.sql.connect.client import DefaultChannelBuilder
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.connect.session import SparkSession

from svc_jupyter.service.runtimes.spark.connect.job import ConnectEndpoint
from svc_jupyter.service.runtimes.spark.driver.failure import CodeFailure

_USER_AGENT = "svc-jupyter"
_EXECUTE = "/ExecutePlan"
_RETRIES = 7
"""About 30 s of patience with a server that does not answer, with these pauses."""
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 50, 10_000
_LOST = "the server lost the statement: it was restarted meanwhile, or the connection broke; what it changed is unknown"


def connected(endpoint: ConnectEndpoint) -> SparkSession:
    """Return the session, in which nothing has been sent yet unless it has settings."""
    logging.getLogger("SQLQueryContextLogger").disabled = True  # writes every failure with Java's stack to stderr
    os.environ["SPARK_REMOTE"] = f"sc://{endpoint.name}"  # `SparkSession.builder.getOrCreate()` wants it; no token
    SparkSession.stop = _stays
    builder = SparkSession.builder.channelBuilder(_Channel(endpoint))
    for name, value in endpoint.settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.create()
    session.client.set_retry_policies(
        [DefaultPolicy(max_retries=_RETRIES, initial_backoff=_FIRST_PAUSE_MS, max_backoff=_LONGEST_PAUSE_MS, jitter=0)]
    )
    return session


def _stays(_session: object) -> None:
    """Do nothing: a program ends with `spark.stop()`, and its result is fetched after that."""


class _Channel(DefaultChannelBuilder):  # type: ignore[misc]  # pyspark has no types here
    """The channel, with the authorities that are trusted. The token is in no URL."""

    def __init__(self, endpoint: ConnectEndpoint) -> None:
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        super().__init__(f"sc://{host}:{endpoint.port}/;session_id={endpoint.session}")
        self._trusted = endpoint
        self.set("user_id", endpoint.user)
        self.set("user_agent", _USER_AGENT)
        self.add_interceptor(_Once())

    def toChannel(self) -> grpc.Channel:  # noqa: N802  the client's name
        """Return the channel."""
        endpoint, target = self._trusted, self.endpoint
        if not endpoint.is_encrypted and not endpoint.token:
            return self._insecure_channel(target)
        secure: Any
        if endpoint.is_encrypted:
            secure = grpc.ssl_channel_credentials(endpoint.tls_ca.encode() or None)
        else:  # allowed on this machine only
            secure = grpc.local_channel_credentials()
        if endpoint.token:
            secure = grpc.composite_channel_credentials(secure, grpc.access_token_call_credentials(endpoint.token))
        return self._secure_channel(target, secure)


class _Once(grpc.UnaryStreamClientInterceptor):  # type: ignore[misc]  # grpc has no types
    """Refuses to send an operation a second time."""

    def __init__(self) -> None:
        self._sent: set[str] = set()

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        """Pass a call on, except an operation that was passed on before. Raises `CodeFailure`."""
        if details.method.endswith(_EXECUTE):
            if request.operation_id in self._sent:
                raise CodeFailure(_LOST)
            self._sent.add(request.operation_id)
        return continuation(details, request)
