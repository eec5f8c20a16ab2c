"""The server's own calls to Spark's driver, all from one thread, since Py4J ties it to one of the driver's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from .progress import Progress

Value = TypeVar("Value")


class Driver:
    """A running Spark."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="driver")
        self._spark: Any = None
        self._progress: Any = None

    async def start(self) -> None:
        """Start the application; return once a query has run."""
        await self._asked(self._start)

    async def jobs(self, group: str) -> list[dict[str, Any]]:
        """Return the jobs of a statement."""
        found: list[dict[str, Any]] = await self._asked(lambda: self._progress.of(group))
        return found

    async def cancel(self, group: str) -> None:
        """End the jobs of a statement, including those that it would start."""
        await self._asked(lambda: self._context._jsc.sc().cancelJobGroupAndFutureJobs(group, "it was cancelled"))

    async def interrupt(self, thread: int, *, hard: bool) -> None:
        """Interrupt the driver thread that runs a session's Scala; `hard` stops it where Java still can."""
        await self._asked(lambda: self._interrupt(thread, hard))

    async def forget(self, jvm_session: str) -> None:
        """Release a session's Spark side."""
        await self._asked(lambda: self._gateway._gateway_client.garbage_collect_object(jvm_session))

    async def vitals(self) -> dict[str, Any]:
        """Return the figures for the health: heap in bytes, the application, its web UI."""
        return dict(await self._asked(self._vitals))

    def _start(self) -> None:
        self._spark = SparkSession.builder.getOrCreate()
        self._context = self._spark.sparkContext
        self._gateway = self._context._gateway
        self._progress = Progress(self._context)
        self._spark.sql("SELECT 1").collect()

    def _vitals(self) -> dict[str, Any]:
        heap = self._context._jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage()
        if self._context._jsc.sc().isStopped():
            raise RuntimeError("somebody stopped the application")
        return {
            "heap_used": heap.getUsed(),
            "heap_max": heap.getMax(),
            "application": self._context.applicationId,
            "ui": self._progress.ui,
        }

    def _interrupt(self, thread: int, hard: bool) -> None:
        for each in self._context._jvm.java.lang.Thread.getAllStackTraces().keySet():
            if each.getId() == thread:
                each.stop() if hard else each.interrupt()

    async def _asked(self, question: Callable[[], Value]) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._thread, question)
