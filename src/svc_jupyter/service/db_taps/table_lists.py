"""The tables and views of a tap, listed by a worker as for a query."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svc_jupyter.api.db_taps import DbTapTable, DbTapTables
from svc_jupyter.service.db_taps.db_taps import DbTaps, OpenTap
from svc_jupyter.service.db_taps.job import ERROR_FILE, SUMMARY_FILE, Job, JobKind
from svc_jupyter.service.ground.errors import Invalid, Unavailable
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.warm_workers import WarmWorkers

_LIMIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class TableLists:
    """Lists the tables of taps, each list in its own worker process."""

    db_taps: DbTaps
    workers: WarmWorkers[Job]

    async def of_tap(self, account_id: int, db_tap_id: int) -> DbTapTables:
        """Return the tables and views that the tap's user can see. Raises `NotFound`, and as `list_tables` does."""
        return await list_tables(await self.db_taps.opened(account_id, db_tap_id), self.workers)


async def list_tables(tap: OpenTap, workers: WarmWorkers[Job], *, limit_seconds: float = _LIMIT_SECONDS) -> DbTapTables:
    """Return the tables and views that the tap's user can see.

    Raises `Invalid` with the database's own words, or when it does not answer in time.
    """
    with tempfile.TemporaryDirectory(prefix="svc-tables-") as name:
        found = await work(JobKind.TABLES, tap, workers, Path(name), limit_seconds=limit_seconds)
    return DbTapTables(
        tables=[
            DbTapTable(name=table["name"], schema_name=table["schema"], type=table["type"]) for table in found["tables"]
        ]
    )


async def work(
    kind: JobKind, tap: OpenTap, workers: WarmWorkers[Job], folder: Path, *, limit_seconds: float
) -> Mapping[str, Any]:
    """Run a job without a query in a worker and return its summary; its files are in the folder.

    Raises `Invalid` with the database's own words, or when it does not answer in time.
    """
    try:
        process = await workers.start(Job(kind, folder, folder / "log", tap.connection))
    except OSError as error:
        raise Unavailable(str(error)) from error
    try:
        async with asyncio.timeout(limit_seconds):
            await process.wait()
    except TimeoutError:
        raise Invalid(
            f"tap {tap.name} ({tap.connection.db_type}) at {tap.connection.address} did not answer within "
            f"{limit_seconds:g} s"
        ) from None
    finally:
        await _end(process)
    return await asyncio.to_thread(_summary, folder, tap)


async def _end(process: DurableProcess) -> None:
    if process.is_running:
        await process.stop(0)
        await process.wait()


def _summary(folder: Path, tap: OpenTap) -> Mapping[str, Any]:
    try:
        summary: Mapping[str, Any] = json.loads((folder / SUMMARY_FILE).read_text("utf-8"))
    except FileNotFoundError:
        raise Invalid(_reason(folder, tap)) from None
    return summary


def _reason(folder: Path, tap: OpenTap) -> str:
    try:
        message: str = json.loads((folder / ERROR_FILE).read_text("utf-8"))["message"]
    except FileNotFoundError:
        return f"the tables of tap {tap.name} could not be listed: the process that asked for them was ended"
    return message
