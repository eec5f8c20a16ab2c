"""Samples of a cluster's health over time, for plots: a file of fixed size, whose oldest samples are overwritten.

Any replica can read what the driving replica has written, and nothing is lost when the service is killed.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.files import write_whole


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
    """The samples of one instance: every 5 s for the last hour, every minute for the last day; about 350 kB."""

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
