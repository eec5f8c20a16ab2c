"""A table's definition and a partition sensor over HTTP, compared with direct calls to the metastore.

The table has 50 columns and 1,000 partitions. Both keep their connections; the direct client is in this process. Also
measured: the metastore's first start, when it creates its database, its later starts, and its memory.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from pymetastore.hive_metastore import ttypes
from pymetastore.hive_metastore.ThriftHiveMetastore import Client
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from benchmarks import report
from benchmarks.contests import Measure, compete
from benchmarks.processes import proportional
from benchmarks.service import Service
from svc_jupyter.service.ground.settings import default_engines_dir

COLUMNS = 50
PARTITIONS = 1000
_DAYS = [f"d{number:04}" for number in range(PARTITIONS)]
_METASTORE = Path("hive") / "metastore"
_WARM_UP = 200


def run(folder: Path, *, quick: bool) -> None:
    """Print milliseconds of both, and the resources of the metastore."""
    rounds = 100 if quick else 1000
    with Service(folder, SVC_ENGINES_DIR=str(default_engines_dir())) as service:
        first = _started(service)
        service.stop()
        service.start()
        later = _started(service)
        base_url, token = service.address
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}) as http:
            client = _bare_client(service)
            _make_table(client)
            _report(http, client, rounds)
        pid = int((service.data_dir / _METASTORE / "daemons" / "hive-metastore" / "pid").read_text())
        columns = ["", "first start, s", "later start, s", "memory, MB"]
        row = ["metastore", *map(report.seconds, (first, later)), report.megabytes(proportional(pid))]
        report.table("What the metastore costs", columns, [row])


def _started(service: Service) -> float:
    """Poll until the metastore answers, after its installation; return the seconds of its start."""
    base_url, token = service.address
    while True:
        began = time.perf_counter()
        answer = httpx.get(f"{base_url}/api/v1.2/hive", headers={"X-AUTH-TOKEN": token}, timeout=90)
        if answer.status_code == httpx.codes.OK:
            return time.perf_counter() - began
        if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
            raise RuntimeError(answer.text)
        time.sleep(int(answer.headers["Retry-After"]))


def _bare_client(service: Service) -> Client:
    transport = TSocket()
    port = int((service.data_dir / _METASTORE / "port").read_text())
    transport.setHandle(socket.create_connection(("127.0.0.1", port)))
    return Client(TBinaryProtocolAccelerated(TBufferedTransport(transport)))


def _report(http: httpx.Client, client: Client, rounds: int) -> None:
    def sensor(day: str) -> dict[str, Any]:
        return {"schema": "default", "table": "wide", "columns": [{"column": "day", "values": [day]}]}

    there, missing = sensor(_DAYS[-1]), sensor("never")
    bare, definition = "get_table of the bare metastore", "GET hive/default/wide"
    tables = {
        bare: _timed(lambda: client.get_table("default", "wide")),
        definition: _timed(lambda: http.get("/hive/default/wide").raise_for_status()),
    }
    results = compete(tables, rounds, warm_up=_WARM_UP)
    report.contest("A table's definition (goal 10 ms)", "ms", results, bare, report.milliseconds)
    bare, name = "get_partitions_by_names of the bare metastore", f"day={_DAYS[-1]}"
    sensors = {
        bare: _timed(lambda: client.get_partitions_by_names("default", "wide", [name])),
        "partition_sensor, true": _timed(lambda: http.post("/partition_sensor", json=there).raise_for_status()),
        "partition_sensor, false": _timed(lambda: http.post("/partition_sensor", json=missing).raise_for_status()),
    }
    results = compete(sensors, rounds, warm_up=_WARM_UP)
    report.contest("Whether a partition is there (goal 15 ms)", "ms", results, bare, report.milliseconds)


def _timed(ask: Callable[[], Any]) -> Measure:
    def measure() -> float:
        began = time.perf_counter()
        ask()
        return time.perf_counter() - began

    return measure


def _make_table(client: Client) -> None:
    fields = [ttypes.FieldSchema(f"c{number}", "string", "a column") for number in range(COLUMNS)]
    library = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    storage = ttypes.StorageDescriptor(
        cols=fields,
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        serdeInfo=ttypes.SerDeInfo(serializationLib=library, parameters={}),
        numBuckets=-1,
        bucketCols=[],
        sortCols=[],
        parameters={},
        compressed=False,
    )
    table = ttypes.Table(
        tableName="wide",
        dbName="default",
        sd=storage,
        partitionKeys=[ttypes.FieldSchema("day", "string", None)],
        parameters={},
        tableType="MANAGED_TABLE",
    )
    client.create_table(table)
    client.add_partitions(
        [ttypes.Partition(values=[day], dbName="default", tableName="wide", sd=storage, parameters={}) for day in _DAYS]
    )
