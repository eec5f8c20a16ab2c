"""The tables and views behind a tap, asked for through a worker as a query is."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from svc_jupyter.api.db_taps import DbTapTable, DbTapTables
from svc_jupyter.service.commands.process import DurableProcess
from svc_jupyter.service.db_taps.db_taps import OpenTap
from svc_jupyter.service.db_taps.job import ERROR_FILE, SUMMARY_FILE, Job, JobKind
from svc_jupyter.service.db_taps.workers import Workers
from svc_jupyter.service.errors import Invalid, Unavailable

_LIMIT_SECONDS = 10.0


async def list_tables(tap: OpenTap, workers: Workers, *, limit_seconds: float = _LIMIT_SECONDS) -> DbTapTables:
    """Return the tables and views that the tap's user can see.

    Raises `Invalid` with the database's own words, or when it does not answer in time.
    """
    with tempfile.TemporaryDirectory(prefix="svc-tables-") as name:
        folder = Path(name)
        try:
            process = await workers.start(Job(JobKind.TABLES, folder, folder / "log", tap.connection))
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
        return await asyncio.to_thread(_read, folder, tap)


async def _end(process: DurableProcess) -> None:
    if process.is_running:
        await process.stop(0)
        await process.wait()


def _read(folder: Path, tap: OpenTap) -> DbTapTables:
    try:
        found = json.loads((folder / SUMMARY_FILE).read_text("utf-8"))["tables"]
    except FileNotFoundError:
        raise Invalid(_reason(folder, tap)) from None
    return DbTapTables(
        tables=[DbTapTable(name=table["name"], schema_name=table["schema"], type=table["type"]) for table in found]
    )


def _reason(folder: Path, tap: OpenTap) -> str:
    try:
        message: str = json.loads((folder / ERROR_FILE).read_text("utf-8"))["message"]
    except FileNotFoundError:
        return f"the tables of tap {tap.name} could not be listed: the process that asked for them was ended"
    return message
