"""The environment of the measurement: the machine, its load, and the versions."""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
from importlib.metadata import PackageNotFoundError, version

import psutil

_PACKAGES = (
    *(
        "svc-jupyter",
        "httpx",
        "uvicorn",
        "fastapi",
        "pandas",
        "pyarrow",
        "adbc-driver-sqlite",
        "adbc-driver-postgresql",
    ),
    *("ipython", "ipykernel", "ipyparallel", "jupysql"),
)
_QUIET = 0.5
"""Load per core above which the table says that the machine was busy."""


def machine_lines() -> list[str]:
    """Return the machine, its current load with a warning if it is busy, and the versions."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    busy = "" if load / cores < _QUIET else "  BUSY: compare ratios within a table, not absolute numbers"
    memory = psutil.virtual_memory().total / 2**30
    return [
        f"machine   {cores} cores ({_processor()}), {memory:.0f} GiB, Linux {platform.release()}",
        f"load      {load:.2f} in the last minute, at the start{busy}",
        f"data in   {tempfile.gettempdir()}",
        f"versions  Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {', '.join(_versions())}",
    ]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def _versions() -> list[str]:
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} missing")
    return found
