"""Health of clusters: calls within a second share one live measurement."""

from __future__ import annotations

import asyncio
import json
import math
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog

from svc_jupyter.api.access import Action
from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.files import write_whole
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, Sample, engine_of
from svc_jupyter.service.clusters.cluster_rows import ClusterRow
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid, StateConflict

FRESH_SECONDS: Final = 1.0
"""Greatest age of a measurement that answers a call."""
_FORGET_SECONDS: Final = 60.0
_HISTORY_FILE: Final = "metrics"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Look:
    """A measurement, running or done; `began` is monotonic seconds, `captured_at` Unix seconds."""

    began: float
    captured_at: float
    task: asyncio.Task[Sample]


class Health:
    """Measures the health of clusters, and stores samples for plots."""

    def __init__(
        self,
        clusters: Clusters,
        instances: Instances,
        engines: Mapping[ClusterType, ClusterEngine],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clusters = clusters
        self._instances = instances
        self._engines = engines
        self._clock = clock
        self._looks: dict[int, _Look] = {}
        self._kept_at: dict[int, float] = {}

    async def record(self, reference: str, *, by: Caller) -> dict[str, Any]:
        """Return the health record of a running cluster. Raises `NotFound`, `Forbidden`, `StateConflict`."""
        cluster, instance = await self._running(reference, by)
        look = self._look(instance)
        sample = await asyncio.shield(look.task)
        return {
            "cluster_id": cluster.id,
            "cluster_inst_id": instance.id,
            "metrics": {"captured_at": iso_time(look.captured_at, "milliseconds"), **sample.metrics},
            "pages": [{"name": name, "url": url} for name, url in sample.pages.items()],
        }

    async def metrics(self, reference: str, names: str | None, interval: str, *, by: Caller) -> dict[str, Any]:
        """Return samples of a running cluster; `names` are separated by commas, all by default.

        Raises `NotFound`, `Forbidden`, `StateConflict`, and `Invalid` for an unknown metric or interval.
        """
        wanted = _wanted(names)
        seconds = _seconds(interval)
        cluster, instance = await self._running(reference, by)
        is_monitored = instance.configuration.enable_ganglia_monitoring
        if not is_monitored:
            wanted = _without_monitoring(wanted, cluster, were_named=names is not None)
        history = MetricHistory(_history_file(instance))
        since = self._clock() - seconds
        found = await asyncio.to_thread(history.read, wanted, since=since)
        return {
            "cluster_id": cluster.id,
            "cluster_inst_id": instance.id,
            "interval": seconds,
            "metrics": {
                name: {
                    "unit": METRICS[name].unit,
                    "samples": [[round(at, 3), round(value, 3)] for at, value in samples],
                }
                for name, samples in found.items()
            },
        }

    async def keep(self, instance: Instance) -> None:
        """Store a sample of a cluster that is UP, every few seconds; called about once a second."""
        now = time.monotonic()
        if now - self._kept_at.get(instance.id, -STEP_SECONDS) < STEP_SECONDS:
            return
        self._kept_at[instance.id] = now
        look = self._look(instance)
        sample = await asyncio.shield(look.task)
        history = MetricHistory(_history_file(instance))
        try:
            await asyncio.to_thread(history.add, look.captured_at, sample.values)
        except OSError as error:
            log.warning("metrics_not_kept", cluster_id=instance.cluster_id, reason=error.strerror)

    async def _running(self, reference: str, caller: Caller) -> tuple[ClusterRow, Instance]:
        cluster = await self._clusters.resolve_for(caller, Action.READ, reference)
        instance = await self._instances.of_cluster(cluster.id)
        if cluster.state is not ClusterState.UP or instance is None:
            raise StateConflict(f"cluster {cluster.name} is {cluster.state}: only a cluster that is UP has health")
        return cluster, instance

    def _look(self, instance: Instance) -> _Look:
        """Return a running or fresh measurement, else begin one."""
        now = time.monotonic()
        look = self._looks.get(instance.id)
        if look is not None and (not look.task.done() or now - look.began < FRESH_SECONDS):
            return look
        self._forget(now)
        engine = engine_of(self._engines, instance.configuration)
        assert engine is not None  # it started the instance
        task = asyncio.ensure_future(engine.health(instance))
        look = _Look(now, self._clock(), task)
        self._looks[instance.id] = look
        return look

    def _forget(self, now: float) -> None:
        """Drop the measurements of clusters that are no longer asked for."""
        old = [key for key, look in self._looks.items() if look.task.done() and now - look.began > _FORGET_SECONDS]
        for key in old:
            del self._looks[key]
            self._kept_at.pop(key, None)


def _wanted(names: str | None) -> list[str]:
    wanted = list(METRICS) if names is None else [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in METRICS:
            raise Invalid(f"metric: {name[:64]!r} is not kept; there are {', '.join(METRICS)}")
    return list(dict.fromkeys(wanted))


def _without_monitoring(wanted: list[str], cluster: ClusterRow, *, were_named: bool) -> list[str]:
    for name in wanted:
        if were_named and METRICS[name].needs_monitoring:
            raise Invalid(f"metric: {name} needs enable_ganglia_monitoring, which is off for cluster {cluster.name}")
    return [name for name in wanted if not METRICS[name].needs_monitoring]


def _seconds(interval: str) -> int:
    """Return the length of an interval, given by a word or in seconds."""
    if interval in INTERVALS:
        return INTERVALS[interval]
    longest = max(INTERVALS.values())
    if interval.isascii() and interval.isdigit() and 1 <= int(interval[:9]) <= longest:
        return int(interval)
    raise Invalid(f"interval: must be {', '.join(INTERVALS)} or a number of seconds up to {longest}")


def _history_file(instance: Instance) -> Path:
    return instance.folder / _HISTORY_FILE


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's unit, and whether it comes from YARN, whose metrics are kept only where YARN is monitored."""

    unit: str
    needs_monitoring: bool = False


METRICS: Final[Mapping[str, Metric]] = {
    "cpu_usage": Metric("percent"),
    "disk_usage": Metric("percent"),
    "resourcemanager_heap": Metric("percent"),
    "namenode_heap": Metric("percent"),
    "hive_metastore_heap": Metric("percent"),
    "hs2_server_heap": Metric("percent"),
    "presto_heap": Metric("percent"),
    "zeppelin_heap": Metric("percent"),
    "presto_workers": Metric("nodes"),
    "queries_running": Metric("queries"),
    "queries_waiting": Metric("queries"),
    "hdfs_usage": Metric("percent"),
    "yarn_memory": Metric("percent", needs_monitoring=True),
    "containers_running": Metric("containers", needs_monitoring=True),
    "containers_pending": Metric("containers", needs_monitoring=True),
    "containers_failed": Metric("containers", needs_monitoring=True),
    "containers_killed": Metric("containers", needs_monitoring=True),
    "applications_running": Metric("applications", needs_monitoring=True),
    "nodes_running": Metric("nodes", needs_monitoring=True),
}
"""The metrics of `GET clusters/X/metrics`."""
INTERVALS: Final[Mapping[str, int]] = {"minute": 60, "hour": 3600, "day": 86_400}
"""Words for an interval, in seconds."""
STEP_SECONDS: Final = 5
_MINUTE: Final = 60
_RECORD: Final = struct.Struct(f"<{1 + len(METRICS)}d")
_HEADER_BYTES: Final = 512
_HEADER: Final = json.dumps(list(METRICS)).encode().ljust(_HEADER_BYTES)
assert len(_HEADER) == _HEADER_BYTES
Series = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class _Ring:
    """A part of the file, with one place for each step of a time span."""

    first: int
    step: int
    places: int

    def offset(self, moment: float) -> int:
        place = self.first + int(moment // self.step) % self.places
        return _HEADER_BYTES + place * _RECORD.size


_FINE: Final = _Ring(0, STEP_SECONDS, INTERVALS["hour"] // STEP_SECONDS)
_COARSE: Final = _Ring(_FINE.places, _MINUTE, INTERVALS["day"] // _MINUTE)
_FILE_BYTES: Final = _HEADER_BYTES + (_FINE.places + _COARSE.places) * _RECORD.size


class MetricHistory:
    """The samples of one instance: every 5 s for the last hour, every minute for the last day; about 350 kB.

    A file of fixed size, whose oldest samples are overwritten: any replica can read what the driving one has written,
    and nothing is lost when the service is killed.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, moment: float, values: Mapping[str, float]) -> None:
        """Store a sample taken at `moment`, Unix seconds. Raises `OSError`."""
        record = _RECORD.pack(moment, *(values.get(name, math.nan) for name in METRICS))
        descriptor = self._open()
        try:
            os.pwrite(descriptor, record, _FINE.offset(moment))
            os.pwrite(descriptor, record, _COARSE.offset(moment))
        finally:
            os.close(descriptor)

    def read(self, names: Sequence[str], *, since: float) -> Series:
        """Return the samples after `since` by metric, oldest first: pairs of Unix seconds and value."""
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            content = b""
        if len(content) != _FILE_BYTES or content[:_HEADER_BYTES] != _HEADER:
            return dict.fromkeys(names, ())
        samples = sorted(sample for sample in _samples(content) if sample[0] > since)
        # The newest minutes are in both rings, as the same sample with the same time.
        places = {name: 1 + list(METRICS).index(name) for name in names}
        return {
            name: tuple({sample[0]: sample[place] for sample in samples if not math.isnan(sample[place])}.items())
            for name, place in places.items()
        }

    def _open(self) -> int:
        """Open the file; create it where it is missing or has another version."""
        with suppress(FileNotFoundError):
            descriptor = os.open(self._file, os.O_RDWR)
            if os.pread(descriptor, _HEADER_BYTES, 0) == _HEADER and os.fstat(descriptor).st_size == _FILE_BYTES:
                return descriptor
            os.close(descriptor)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._file, _HEADER.ljust(_FILE_BYTES, b"\0"))
        return os.open(self._file, os.O_RDWR)


def _samples(content: bytes) -> Iterator[tuple[float, ...]]:
    return (sample for sample in _RECORD.iter_unpack(content[_HEADER_BYTES:]) if sample[0] > 0)
