"""Spark's driver: a Java process with a gateway for Py4J, which ends with this one."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

_START_SECONDS: Final = 120.0
_END_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.02
_MAIN: Final = "org.apache.spark.deploy.SparkSubmit"


class Jvm:
    """The driver's process."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, secret: str) -> None:
        self.process = process
        self.port = port
        self.secret = secret

    @classmethod
    def start(cls, argv: Sequence[str], properties: str, folder: Path) -> Jvm:
        """Start it; return once its gateway answers. `argv` is Java with its options. Raises `RuntimeError`."""
        connection_file = folder / "gateway"
        connection_file.unlink(missing_ok=True)
        environment = {**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection_file)}
        process = subprocess.Popen(
            [*argv, _MAIN, "--properties-file", properties, "pyspark-shell"],
            stdin=subprocess.PIPE,
            env=environment,
        )
        deadline = time.monotonic() + _START_SECONDS
        while not connection_file.exists():
            if process.poll() is not None:
                raise RuntimeError(f"Spark's driver ended while it started, with code {process.returncode}")
            if time.monotonic() > deadline:
                process.kill()
                raise RuntimeError(f"Spark's driver did not answer within {_START_SECONDS:.0f} s")
            time.sleep(_LOOK_SECONDS)
        data = connection_file.read_bytes()
        connection_file.unlink()
        port, length = struct.unpack("!ii", data[:8])
        return cls(process, port, data[8 : 8 + length].decode())

    def end(self) -> NoReturn:
        """End it, and this process with it."""
        self.process.terminate()
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
        sys.stderr.flush()
        os._exit(1)
