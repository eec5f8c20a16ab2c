"""A running ipcluster with one engine: the alternative way to run a cell's script in another process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.surroundings import environment

_START_SECONDS = 60.0
_LOOK_EVERY = 0.05


@contextmanager
def ipcluster(folder: Path) -> Iterator[Path]:
    """Start controller and engine, yield the folder of their profile once clients can connect, and stop them."""
    profile = folder / "ipcluster"
    environ = environment(folder)
    with (folder / "ipcluster.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "ipyparallel.cluster", "start", "-n", "1", "--profile-dir", str(profile)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environ,
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not (profile / "security" / "ipcontroller-client.json").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"ipcluster did not start:\n{(folder / 'ipcluster.log').read_text()[-2000:]}")
            time.sleep(_LOOK_EVERY)
        yield profile
    finally:
        process.terminate()
        try:
            process.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
