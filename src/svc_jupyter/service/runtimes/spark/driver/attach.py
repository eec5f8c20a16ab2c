"""A Python process attached to a running driver: it has its own names and thread, and the driver's Spark."""

from __future__ import annotations

from typing import Any

from py4j.clientserver import ClientServerConnection
from py4j.java_gateway import JavaObject
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession


def load() -> None:
    """Import what a session needs, and what pyspark imports only at first use: seconds on a busy machine."""
    import encodings.idna  # noqa: F401  loaded with the first connection
    import logging

    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyspark.sql.classic.dataframe
    import pyspark.sql.functions
    import pyspark.sql.pandas.conversion
    import pyspark.sql.pandas.types
    import pyspark.sql.pandas.utils
    import pyspark.sql.types
    import pyspark.testing.utils  # noqa: F401  asked with every argument that goes to the driver

    pd.DataFrame({"a": np.array([1])})
    pa.array([1]).cast(pa.string())
    from . import session  # noqa: F401

    # It writes each failed query a second time, as JSON, among the program's own errors.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL + 1)


def attached(jvm_session: str | None) -> SparkSession:
    """Return a session of the driver that the environment names: a new one, or the one with this Py4J id."""
    ClientServerConnection.shutdown_socket = _closed
    gateway = launch_gateway()
    jvm: Any = gateway.jvm
    java_context = jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(
        jvm.org.apache.spark.SparkContext.getOrCreate()
    )
    conf = SparkConf(_jvm=jvm, _jconf=java_context.getConf())
    context = SparkContext(gateway=gateway, jsc=java_context, conf=conf)
    if jvm_session is None:
        shared = jvm.org.apache.spark.sql.classic.SparkSession.builder().getOrCreate().newSession()
    else:
        shared = JavaObject(jvm_session, gateway._gateway_client)
    spark = SparkSession(context, shared)
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(shared)
    keep_alive()
    return spark


def keep_alive() -> None:
    """Make `spark.stop()`, with which programs end, end nothing that others use."""
    SparkSession.stop = _stays
    SparkContext.stop = _stays


def keep_scala_alive(spark: SparkSession) -> None:
    """Make `spark.stop()` in this process's thread of the driver an error: it would end Spark for all sessions.

    Spark refuses it where it would wait for itself.
    """
    bus: Any = getattr(spark.sparkContext._jvm.org.apache.spark.scheduler, "LiveListenerBus$")
    getattr(getattr(bus, "MODULE$").withinListenerThread(), "value_$eq")(True)


def _closed(connection: ClientServerConnection, _remote_port: int, _local_port: int) -> None:
    """Close the connection of an interrupted call, and no other.

    Py4J 0.10.9.9 has the driver close each one that has either port, and all have the driver's own: the sessions of
    others would lose theirs, and a call that they wait for would be made a second time.
    """
    connection.close()


def _stays(_self: object) -> None:
    """Do nothing: the session ends with its last statement, or when it is idle."""
