"""A real Spark cluster without YARN for tests, started once for all tests of a process; its service with it.

- `run(service, **fields)`: submit a command of Spark and wait for its end.
- `activity(service, environment_id)`: the newest change of a package environment once it is over.
- `server_of(service)`: the process of the cluster's session server.
- `results(service, command_id)`: its rows as an Arrow table; `lines(…)`: its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
from tests.conftest import end_commands_of
from tests.support.engines import ONE_COMPILER, engine_at_once
from tests.support.hadoop import end_clusters_of, start_cluster
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.processes.marks import environment_mark

LABEL = "spark"
SECONDS = 300.0
START_SECONDS = 300.0
"""A session server takes 9 s on two idle processors, and minutes on a machine that runs other tests meanwhile."""
QUICK = f"spark.driver.extraJavaOptions={ONE_COMPILER}"
LOCAL = f"spark.master=local[2]\nspark.ui.enabled=false\nspark.sql.shuffle.partitions=2\n{QUICK}"


@contextmanager
def spark_service(
    data_dir: Path, *, custom_config: str = LOCAL, configuration: Mapping[str, Any] | None = None, **settings: Any
) -> Iterator[ServiceProcess]:
    """Give a service whose cluster `spark` is UP; end all of it afterwards, also when tests failed.

    `configuration` is more of the cluster's, by the names of its record; `settings` are the service's.
    """
    engine_at_once(Engine.SPARK)
    service = ServiceProcess(data_dir, timeout_check_seconds=1, kill_grace_seconds=1, **settings).start()
    try:
        more = dict(configuration or {})
        hadoop = {"use_spark": True, "custom_config": custom_config, **more.pop("hadoop_settings", {})}
        body = {"hadoop_settings": hadoop, **more}
        answer = service.http.put(f"/clusters/{LABEL}", json=body)
        assert answer.status_code == 200, answer.text
        start_cluster(service, LABEL, START_SECONDS)
        yield service
    finally:
        service.stop()
        end_commands_of(data_dir)
        end_clusters_of(data_dir)


def server_of(service: ServiceProcess) -> psutil.Process | None:
    """Return the process of the session server of the service's cluster.

    What it starts has its command line, too, until it is another program.
    """
    below = str(service.data_dir / "clusters")
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if "svc_spark.server" in process.cmdline() and (environment_mark(process, INSTANCE_MARK) or "").startswith(
                below
            ):
                found[process] = process.ppid()
    pids = {process.pid for process in found}
    return next((process for process, parent in found.items() if parent not in pids), None)


def submit(service: ServiceProcess, **fields: Any) -> dict[str, Any]:
    """Submit a `SparkCommand`, or another type; return its record."""
    answer = service.http.post("/commands", json={"command_type": "SparkCommand", "label": LABEL, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def run(service: ServiceProcess, **fields: Any) -> dict[str, Any]:
    """Submit a command and return its record once it has ended."""
    return service.ended(submit(service, **fields)["id"], SECONDS)


def results(service: ServiceProcess, command_id: int) -> pa.Table:
    """Return the typed rows of a command."""
    headers = {"Accept": "application/vnd.apache.arrow.stream"}
    answer = service.http.get(f"/commands/{command_id}/results", headers=headers)
    assert answer.status_code == 200, answer.text
    return pa.ipc.open_stream(answer.content).read_all()


def lines(service: ServiceProcess, command_id: int) -> list[str]:
    """Return the lines of a command's results."""
    answer = service.http.get(f"/commands/{command_id}/results")
    assert answer.status_code == 200, f"{answer.text}\n{log(service, command_id)}"
    return str(answer.json()["results"]).splitlines()


def log(service: ServiceProcess, command_id: int) -> str:
    """Return a command's log."""
    return service.http.get(f"/commands/{command_id}/logs").text


def activity(service: ServiceProcess, environment_id: int) -> dict[str, Any]:
    """Return the newest change of a package environment once it is over."""

    def newest() -> dict[str, Any] | None:
        row = service.http.get(f"/package/{environment_id}/activity_history").json()["activity_history"][0]
        return dict(row) if row["status"] in ("success", "failed") else None

    return dict(wait_until(newest, "the change is over", SECONDS))
