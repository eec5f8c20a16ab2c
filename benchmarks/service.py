"""The measured service: `svc-jupyter serve` with its defaults, in a separate process and data folder."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.surroundings import environment

STOP_SECONDS = 30.0


class Service:
    """A service in `folder/data`, started by `with`; its settings are passed as `SVC_…` variables."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.data_dir = folder / "data"
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self.environment = environment(folder, SVC_DATA_DIR=str(self.data_dir))
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The number of the service's process."""
        assert self._process is not None
        return self._process.pid

    @property
    def address(self) -> tuple[str, str]:
        """The base address and the administrator's token."""
        content = json.loads((self.data_dir / "service.json").read_text())
        return content["base_url"], content["token"]

    def start(self) -> float:
        """Start it; return the seconds until its ready line."""
        started = time.perf_counter()
        with (self.data_dir / "serve.log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "svc_jupyter", "serve"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**self.environment, **self._settings},
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        took = time.perf_counter() - started
        if not line.startswith("ready "):
            raise RuntimeError(f"the service did not start:\n{(self.data_dir / 'serve.log').read_text()[-2000:]}")
        return took

    def stop(self) -> None:
        """Stop it as an operator does, and wait for its end."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
