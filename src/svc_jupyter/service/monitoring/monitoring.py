"""Whether the service can work, and its figures for Prometheus. Both are read at most once a second."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sqlalchemy as sa
import structlog
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import Pulse
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.monitoring.caching import Cached
from svc_jupyter.service.monitoring.database_figures import DatabaseFigures, families
from svc_jupyter.service.monitoring.figures import Figures

_DATABASE_SECONDS: Final = 3.0
"""How long to wait for the database before it counts as away."""
_LATE_SECONDS: Final = 30.0
"""How late a loop may be; a step takes milliseconds, and after a failure the next one comes within a second."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `detail` is for administrators."""

    name: str
    is_good: bool
    detail: str


class Monitoring:
    """Checks and figures; `loops` are the pulses of the loops that must keep up, by name."""

    def __init__(self, settings: Settings, database: Database, figures: Figures, loops: Mapping[str, Pulse]) -> None:
        self._settings = settings
        self._database = database
        self._figures = figures
        self._loops = loops
        self._of_database = Cached(lambda: database.read(DatabaseFigures.read))
        self._answer = Cached(self._ask_database)
        self._findings = Cached(self._check)
        self._text = Cached(self._render)
        self._known: DatabaseFigures | None = None
        figures.registry.register(_Gauges(lambda: self._known, settings.data_dir, loops))

    async def findings(self) -> list[Finding]:
        """Return the results of all checks."""
        return await self._findings.value()

    async def text(self) -> bytes:
        """Return all figures in the text format of Prometheus."""
        return await self._text.value()

    async def _render(self) -> bytes:
        try:
            async with asyncio.timeout(_DATABASE_SECONDS):
                self._known = await self._of_database.value()
        except (Unavailable, TimeoutError):
            self._known = None
        return await asyncio.to_thread(generate_latest, self._figures.registry)

    async def _check(self) -> list[Finding]:
        return [
            await self._check_database(),
            await asyncio.to_thread(self._check_disk),
            *(_check_loop(name, pulse) for name, pulse in self._loops.items()),
        ]

    async def _ask_database(self) -> float:
        begun = time.monotonic()
        await self._database.read(lambda connection: connection.execute(sa.select(1)).one())
        return time.monotonic() - begun

    async def _check_database(self) -> Finding:
        try:
            async with asyncio.timeout(_DATABASE_SECONDS):
                seconds = await self._answer.value()
        except TimeoutError:
            return Finding("database", False, f"no answer within {_DATABASE_SECONDS:g} s")
        except Unavailable as error:
            return Finding("database", False, error.message)
        except Exception as error:
            log.exception("database_check_failed")
            return Finding("database", False, f"{type(error).__name__}; the service's log has the details")
        return Finding("database", True, f"answered in {1000 * seconds:.1f} ms")

    def _check_disk(self) -> Finding:
        folder, least = self._settings.data_dir, self._settings.min_free_disk_bytes
        try:
            free = shutil.disk_usage(folder).free
        except OSError as error:
            return Finding("disk", False, f"{folder}: {error.strerror}")
        text = f"{folder} has {free / 2**20:,.0f} MiB free; at least {least / 2**20:,.0f} MiB must be"
        return Finding("disk", free >= least, text)


def _check_loop(name: str, pulse: Pulse) -> Finding:
    late = pulse.late_seconds
    return Finding(name, late < _LATE_SECONDS, f"{late:.1f} s late; up to {_LATE_SECONDS:g} s may be")


class _Gauges(Collector):
    """What is read at each rendering."""

    def __init__(self, known: Callable[[], DatabaseFigures | None], folder: Path, loops: Mapping[str, Pulse]) -> None:
        self._known = known
        self._folder = folder
        self._loops = loops

    def describe(self) -> Iterable[Metric]:
        """Yield the metrics; a registry asks for them at the registration."""
        return self.collect()

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics with their values."""
        yield from families(self._known())
        late = GaugeMetricFamily(
            "svc_loop_late_seconds",
            "How late a loop of this process is: its step takes long, or fails again and again",
            labels=["loop"],
        )
        for name, pulse in self._loops.items():
            late.add_metric([name], pulse.late_seconds)
        yield late
        free = GaugeMetricFamily("svc_disk_free_bytes", "Free bytes on the disk of the data folder")
        size = GaugeMetricFamily("svc_disk_size_bytes", "Size of the disk of the data folder")
        try:
            usage = shutil.disk_usage(self._folder)
        except OSError:
            usage = None
        if usage is not None:
            free.add_metric([], usage.free)
            size.add_metric([], usage.total)
        yield from (free, size)
