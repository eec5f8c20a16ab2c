"""Real Hadoop for tests: HDFS, YARN and two workers, on the provider `local`.

- `shared_hadoop(tmp_path_factory)`, for a session fixture: a service with a running cluster `default`, one for all
  processes of a test session. Use it for whatever leaves the cluster as it was.
- `HadoopCluster.of(folder)`: a cluster of one's own without a service, to be killed and bent; end it with `end()`.
- `HadoopService(folder)`: a service whose commands on its cluster `default`, when they do not end, tell how YARN is.
- `use_hadoop(service)`: makes the cluster `default` of any `ServiceProcess` one that runs on Hadoop.
- `daemon_processes(data_dir)`: the processes of the daemons of a data folder's clusters.
- `end_clusters_of(data_dir)`: ends what is left of a data folder's clusters.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil
import pytest
import sqlalchemy as sa
from tests.support.engines import ENGINES, ONE_COMPILER, engine_at_once
from tests.support.hive import end_metastore_of
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.clusters.cluster_engine import Sample
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.providers.local import LocalProvider
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.processes.durable_process import mark_of as command_mark_of
from svc_jupyter.service.processes.marks import environment_mark, marked_processes
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp
from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import HadoopEngine
from svc_jupyter.service.runtimes.hadoop.nodes import HadoopNodes
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnRest
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_instances, clusters

START_SECONDS = 150.0
"""How long a cluster may take on a machine that runs other tests meanwhile."""
_TOLD_CHARACTERS = 2_000
CONFIGURATION = {"node_configuration": {"initial_nodes": 2, "max_nodes": 4}}


async def java_program() -> Path:
    """Return the Java that the engines run on."""
    return (await ENGINES.java(lambda _line: None)).java


async def no_bootstrap(*_arguments: object) -> None:
    """These clusters have no bootstrap script."""


class NoHealth:
    """These tests ask for no health."""

    async def sample(self, instance: Instance) -> Sample:
        raise NotImplementedError


@dataclass
class ClusterRows:
    """A cluster that is PENDING by its rows, over a database of its own, and the machines of this host."""

    settings: Settings
    database: Database
    instances: Instances
    provider: LocalProvider
    instance_id: int

    @classmethod
    def of(cls, data_dir: Path, configuration: Mapping[str, Any] | None = None, **settings: Any) -> ClusterRows:
        """Make the rows; a second call finds them again."""
        made = Settings(data_dir=data_dir, **settings)
        data_dir.mkdir(parents=True, exist_ok=True)
        database = Database(made)
        migrations.upgrade(database)
        wanted = ClusterConfiguration.model_validate(configuration or CONFIGURATION)
        with database.begin() as connection:
            ensure_account(connection, made)
            instance_id = _ensure_instance(connection, wanted)
        return cls(made, database, Instances(made, database), LocalProvider(made, java_program), instance_id)

    async def instance(self) -> Instance:
        """Return the instance as its rows are now."""
        return await self.instances.get(self.instance_id)


class Said(list[str]):
    """What an engine says, which is printed as well, with the time: a test that fails shows it."""

    def append(self, line: str) -> None:
        sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
        super().append(line)


@dataclass
class HadoopCluster(ClusterRows):
    """Everything around one instance."""

    nodes: HadoopNodes
    engine: HadoopEngine
    http: DaemonHttp
    yarn: YarnRest
    said: Said = field(default_factory=Said)

    @classmethod
    def of(cls, data_dir: Path, configuration: Mapping[str, Any] | None = None, **settings: Any) -> HadoopCluster:
        """Return a cluster that is PENDING, with its rows; nothing of it runs yet. A second call finds it again."""
        rows = ClusterRows.of(data_dir, configuration, **settings)
        providers = {"local": rows.provider}
        nodes = HadoopNodes(ENGINES, providers, no_bootstrap)
        http = DaemonHttp()
        yarn = YarnRest(http)
        engine = HadoopEngine(rows.instances, providers, nodes, yarn, NoHealth())
        return cls(**vars(rows), nodes=nodes, engine=engine, http=http, yarn=yarn)

    async def start(self) -> Instance:
        """Start it; return it with its nodes."""
        await self.engine.start(await self.instance(), self.said.append)
        return await self.instance()

    async def end(self) -> None:
        """End all of it, wherever its start stopped, and delete its folder."""
        instance = await self.instance()
        await self.engine.terminate(instance, self.said.append)
        await self.instances.drop_nodes([node.id for node in instance.nodes])
        await self.close()

    async def close(self) -> None:
        """Let go of it as a service does that is stopped: the daemons go on."""
        await self.http.close()
        self.database.close()


def use_hadoop(service: ServiceProcess, *, initial_nodes: int = 2, max_nodes: int = 4, custom_config: str = "") -> None:
    """Let the cluster `default` of a service run on Hadoop, by its next start."""
    quick = f"spark.driver.extraJavaOptions={ONE_COMPILER}"  # of HiveServer2
    body = {
        "hadoop_settings": {"custom_config": f"{quick}\n{custom_config}".rstrip()},
        "node_configuration": {"initial_nodes": initial_nodes, "max_nodes": max_nodes},
    }
    response = service.http.put("/clusters/default", json=body)
    assert response.status_code == 200, response.text


def start_cluster(service: ServiceProcess, label: str = "default", seconds: float = START_SECONDS) -> dict[str, Any]:
    """Start a cluster and wait until it is UP; return its state."""
    response = service.http.put(f"/clusters/{label}/state", json={"state": "start"})
    assert response.status_code in (200, 409), response.text

    def look() -> dict[str, Any] | None:
        state = dict(service.http.get(f"/clusters/{label}/state").json())
        assert state["state"] in ("PENDING", "UP"), state
        return state if state["state"] == "UP" else None

    return dict(wait_until(look, f"cluster {label} is UP", seconds))


def daemon_processes(data_dir: Path) -> set[int]:
    """Return the processes that the clusters of a data folder consist of, without what these run themselves.

    Daemons run programs for moments, such as `du`, and Java is itself for a moment in a process that it makes for one.
    """
    below = str(data_dir / "clusters")
    parents = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if (environment_mark(process, INSTANCE_MARK) or "").startswith(below):
                parents[process.pid] = process.ppid()
    return {pid for pid, parent in parents.items() if parent not in parents}


def end_clusters_of(data_dir: Path) -> None:
    """Kill every process of the clusters of a data folder."""
    below = str(data_dir / "clusters")
    while left := [p for p in psutil.process_iter() if (environment_mark(p, INSTANCE_MARK) or "").startswith(below)]:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, 5)


class HadoopService(ServiceProcess):
    """A service whose cluster `default` runs on Hadoop: what does not end there is killed, with a report."""

    def ended(self, command_id: int, seconds: float = 30.0) -> dict[str, Any]:
        """Wait for the end of a command; one that does not end is killed, with a report of the cluster."""
        with self.report_of(command_id):
            return super().ended(command_id, seconds)

    @contextmanager
    def report_of(self, *command_ids: int) -> Iterator[None]:
        """Add to a failure what is known of these commands, and kill them: they would keep the cluster from others."""
        try:
            yield
        except AssertionError as error:
            reports = "\n".join(self.report(command_id) for command_id in command_ids)
            for command_id in command_ids:
                self.http.put(f"/commands/{command_id}", json={"status": "kill"})
            raise AssertionError(f"{error}\n{reports}") from error

    def report(self, command_id: int) -> str:
        """Return what is known of a command and of all work on the cluster, for a test that waited in vain."""
        state = self.http.get("/clusters/default/state").json()
        (master,) = (node for node in state["nodes"] if node["role"] == "master")
        place = f"{Addresses(master['private_ip']).resource_manager_http}/ws/v1/cluster"
        told = [self.http.get(f"/commands/{command_id}").text, self.logs(command_id), json.dumps(state)]
        for part in ("apps", "nodes", "scheduler"):
            answer = httpx.get(f"{place}/{part}", headers={"Accept": "application/json"}, trust_env=False, timeout=10)
            told.append(answer.text[:_TOLD_CHARACTERS])
        return "\n".join(told)


class _Detached(ServiceProcess):
    """A service that is nobody's child: it outlives the process of the session that started it."""

    launcher = ("setsid", "--fork")


class SharedHadoop(HadoopService):
    """The session's service, which this process may not have started; its cluster `default` is UP."""

    def cluster(self) -> HadoopCluster:
        """Return the running cluster without the service around it; `close` it, do not end it."""
        return HadoopCluster.of(self.data_dir)

    def leave(self) -> None:
        """Let go of it; it runs on for the others."""
        assert self._client is not None
        self._client.close()


@contextmanager
def shared_hadoop(factory: pytest.TempPathFactory) -> Iterator[SharedHadoop]:
    """Give the session's service: whoever comes first starts it, the last one ends it, also when tests failed.

    Holders that were killed do not count, so that nothing is left behind by the next one's end.
    """
    root = factory.getbasetemp()
    folder = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "shared-hadoop"
    data_dir = folder / "data"
    holder = folder / "holders" / f"{os.getpid()}-{uuid4().hex}"
    with _locked(folder):
        if not _holders(folder):
            _start_shared(data_dir)
        holder.parent.mkdir(exist_ok=True)
        holder.touch()
    service = SharedHadoop.found(data_dir)
    try:
        yield service
    finally:
        service.leave()
        with _locked(folder):
            holder.unlink()
            if not _holders(folder):
                _end_shared(data_dir)


def _start_shared(data_dir: Path) -> None:
    engine_at_once(Engine.HADOOP)
    _end_shared(data_dir)
    service = _Detached(data_dir, timeout_check_seconds=1, kill_grace_seconds=1).start()
    try:
        use_hadoop(service)
        start_cluster(service)
    except BaseException:
        _end_shared(data_dir)
        raise
    finally:
        service.stop()


def _end_shared(data_dir: Path) -> None:
    with suppress(FileNotFoundError, psutil.NoSuchProcess):
        process = psutil.Process(json.loads((data_dir / "service.json").read_text())["pid"])
        if str(data_dir) in process.cmdline():
            process.kill()
            wait_until(lambda: not _is_alive(process), "the end of the shared service")
    for process in marked_processes():  # of commands, which outlive a service
        if (command_mark_of(process) or "").startswith(str(data_dir)):
            with suppress(psutil.NoSuchProcess):
                process.kill()
    end_clusters_of(data_dir)
    end_metastore_of(data_dir)
    shutil.rmtree(data_dir, ignore_errors=True)


def _is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def _holders(folder: Path) -> list[str]:
    names = [file.name for file in (folder / "holders").glob("*")]
    return [name for name in names if psutil.pid_exists(int(name.partition("-")[0]))]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ensure_instance(connection: sa.Connection, configuration: ClusterConfiguration) -> int:
    known = connection.execute(sa.select(sa.func.max(cluster_instances.c.id))).scalar()
    if known is not None:
        return int(known)
    user = connection.execute(sa.select(users.c.id, users.c.account_id)).first()
    assert user is not None
    now = time.time()
    stored = configuration.model_dump(mode="json")
    values = {
        "account_id": user.account_id,
        "user_id": user.id,
        "created_at": now,
        "configuration": stored,
        "state": "PENDING",
    }
    cluster_id = connection.execute(sa.insert(clusters).values(values).returning(clusters.c.id)).scalar_one()
    row = {
        "cluster_id": cluster_id,
        "state": ClusterState.PENDING.value,
        "configuration": stored,
        "provider": "local",
        "start_at": now,
        "last_used_at": now,
    }
    return int(
        connection.execute(sa.insert(cluster_instances).values(row).returning(cluster_instances.c.id)).scalar_one()
    )
