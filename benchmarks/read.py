"""A process that reads a log or a result and keeps nothing: `python -m benchmarks.read MODE WHAT`, answer as JSON.

The service is that of SVC_DATA_DIR. `what` is the number of a command, for `follow` a script, for `plain` a URL.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pyarrow as pa

from benchmarks.processes import forget_peak, peak_resident, resident
from svc_jupyter.client import Client


def read_log(client: Client, command_id: str) -> int:
    """Read the log of a command that has ended; return its characters, all of one byte."""
    return sum(len(text) for text in client.commands.get(int(command_id)).logs(follow=True))


def follow(client: Client, script: str) -> int:
    """Submit a script and follow its log while it runs."""
    return sum(len(text) for text in client.commands.submit("ShellCommand", inline=script).logs(follow=True))


def read_batches(client: Client, command_id: str) -> int:
    """Read a result batch by batch."""
    total = 0
    for batch in client.commands.get(int(command_id)).result().batches():
        total += batch.nbytes
    return total


def save(client: Client, command_id: str) -> int:
    """Save a result in a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = client.commands.get(int(command_id)).result().save(Path(folder) / "result.arrow")
        return file.stat().st_size


def download(_client: Client, url: str) -> int:
    """Download a file without any service."""
    total = 0
    with httpx.Client(trust_env=False) as plain, plain.stream("GET", url) as response:
        for piece in response.iter_bytes():
            total += len(piece)
    return total


MODES: dict[str, Callable[[Client, str], int]] = {
    "log": read_log,
    "follow": follow,
    "batches": read_batches,
    "save": save,
    "plain": download,
}


def main() -> None:
    """Print the bytes, the seconds, and the growth of memory in bytes."""
    mode, what = sys.argv[1:]
    with Client() as client:
        client.account.get()
        pa.array(["warm"])  # exclude what Arrow loads at its first use
        gc.collect()
        process = os.getpid()
        before = resident(process)
        forget_peak(process)
        started = time.perf_counter()
        total = MODES[mode](client, what)
        took = time.perf_counter() - started
        print(json.dumps({"bytes": total, "seconds": took, "growth": peak_resident(process) - before}))


if __name__ == "__main__":
    main()
