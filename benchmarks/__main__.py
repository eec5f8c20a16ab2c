"""`python -m benchmarks [name …] [--quick]`: run the benchmarks of these names, or all, and print their tables."""

from __future__ import annotations

import argparse
import importlib
import inspect
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import machine_lines
from benchmarks.report import heading
from benchmarks.surroundings import keep_bytecode, leave_no_trace_of

SUBJECTS = (
    "shell_latency",
    "db_million",
    "db_memory",
    "rows",
    "completion",
    "notebook_run",
    "schedules",
    "throughput",
    "startup",
    "streaming",
    "workspace",
    "packages",
    "permissions",
    "hadoop_start",
    "node_scaling",
    "hive_metadata",
    "hive_commands",
    "presto",
    "spark",
    "external_spark",
    "pig",
    "lab",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen subjects one after the other, each in a separate folder; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition(": ")[2])
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"one or more of: {', '.join(SUBJECTS)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds and less data: a look, not a measurement")
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in SUBJECTS]:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(SUBJECTS)}")
    print("\n".join(machine_lines()))
    with tempfile.TemporaryDirectory(prefix="svc-benchmark-") as folder:
        keep_bytecode(Path(folder) / "bytecode")
        for name in chosen.names or SUBJECTS:
            run_subject(name, Path(folder) / name, quick=chosen.quick)
    return 0


def run_subject(name: str, folder: Path, *, quick: bool) -> None:
    """Run one subject in a new folder and end the processes it leaves behind, also after a failure."""
    subject = importlib.import_module(f"benchmarks.{name}")
    heading(name, inspect.getdoc(subject) or "")
    started = time.monotonic()
    folder.mkdir()
    try:
        subject.run(folder, quick=quick)
    finally:
        leave_no_trace_of(folder)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"({name} took {time.monotonic() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
