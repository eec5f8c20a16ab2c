"""Real Hive tables for tests: a metastore in a folder, and tables made by its own protocol.

- `make_table(client, …)`, `add_partitions(client, …)`: tables as Hive makes them.
- `metastore_client(address)`: a client of a metastore that runs.
- `end_metastore_of(data_dir)`: ends the metastore of a data folder, as a killed service leaves it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from pymetastore.hive_metastore import ttypes
from pymetastore.hive_metastore.ThriftHiveMetastore import Client
from tests.support.service_process import wait_until
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from svc_jupyter.service.clusters.providers.marked_processes import DAEMON_MARK
from svc_jupyter.service.processes.marks import environment_mark

TEXT_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
AVRO_SERDE = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
_ANSWER_SECONDS = 200
_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"


@contextmanager
def metastore_client(host: str, port: int) -> Iterator[Client]:
    """Yield a client; its connection is closed afterwards."""
    transport = TSocket()
    connected = socket.create_connection((host, port), 5)
    connected.settimeout(_ANSWER_SECONDS)
    transport.setHandle(connected)
    try:
        yield Client(TBinaryProtocolAccelerated(TBufferedTransport(transport)))
    finally:
        transport.close()


def make_table(
    client: Client,
    name: str,
    columns: Mapping[str, str | tuple[str, str]],
    partitioned_by: Mapping[str, str] | None = None,
    *,
    schema: str = "default",
    serde: str = TEXT_SERDE,
    properties: Mapping[str, str] | None = None,
) -> None:
    """Make a table; a column's type may come with a comment."""
    table = ttypes.Table(
        tableName=name,
        dbName=schema,
        owner="ann",
        sd=_storage(columns, serde),
        partitionKeys=_fields(partitioned_by or {}),
        parameters=dict(properties or {}),
        tableType="MANAGED_TABLE",
    )
    client.create_table(table)


def add_partitions(client: Client, name: str, *values: Sequence[str], schema: str = "default") -> None:
    """Add partitions by their values."""
    table = client.get_table(schema, name)
    made = []
    for one in values:
        storage = _storage({field.name: field.type for field in table.sd.cols}, TEXT_SERDE)
        made.append(ttypes.Partition(values=list(one), dbName=schema, tableName=name, sd=storage, parameters={}))
    client.add_partitions(made)


def metastores_of(data_dir: Path) -> list[psutil.Process]:
    """Return the living metastores of a data folder."""
    beginning = str(data_dir.absolute() / "hive")
    return [
        process
        for process in psutil.process_iter()
        if (environment_mark(process, DAEMON_MARK) or "").startswith(beginning)
    ]


def end_metastore_of(data_dir: Path) -> None:
    """End what is left of a data folder's metastore."""
    for process in metastores_of(data_dir):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    wait_until(lambda: not metastores_of(data_dir), "the end of the metastore")


def _storage(columns: Mapping[str, str | tuple[str, str]], serde: str) -> Any:
    return ttypes.StorageDescriptor(
        cols=_fields(columns),
        inputFormat=_TEXT_INPUT,
        outputFormat=_TEXT_OUTPUT,
        serdeInfo=ttypes.SerDeInfo(name=None, serializationLib=serde, parameters={}),
        numBuckets=-1,
        bucketCols=[],
        sortCols=[],
        parameters={},
        compressed=False,
    )


def _fields(columns: Mapping[str, str | tuple[str, str]]) -> list[Any]:
    found = []
    for name, told in columns.items():
        hive_type, comment = told if isinstance(told, tuple) else (told, None)
        found.append(ttypes.FieldSchema(name=name, type=hive_type, comment=comment))
    return found
