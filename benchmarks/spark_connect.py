"""Spark without the service: a persistent client of Spark Connect, and `spark-submit`, which starts each time.

Both use the Spark that the service has installed, with tasks in the driver's process. The client's other requirements
are installed into a folder of the benchmark.

    python benchmarks/spark_connect.py    # in Spark's own Python: a query per line in, the seconds to a DataFrame out
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

MASTER = "local[*]"
_NEEDED = ("grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")
_END_SECONDS = 30.0
_PROGRAM = """
import sys
from pyspark.sql import SparkSession
SparkSession.builder.getOrCreate().sql(sys.argv[1]).toPandas()
"""


class SparkConnect:
    """A warm client with its own server, started by `with`. `home` is Spark's virtual environment."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._python = home / "bin" / "python"
        self._needed = folder / "connect"
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        from uv import find_uv_bin

        install = [find_uv_bin(), "pip", "install", "--quiet", "--python", str(self._python)]
        subprocess.run([*install, "--target", str(self._needed), *_NEEDED], check=True, cwd="/")
        with (self._folder / "connect.log").open("w") as log:
            self._process = subprocess.Popen(
                [str(self._python), __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self._folder,
                env=_environment(self._folder) | {"PYTHONPATH": str(self._needed)},
            )
        self.seconds("SELECT 1")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.communicate(timeout=_END_SECONDS)

    def seconds(self, query: str) -> float:
        """Return the seconds of a query, up to its DataFrame."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(query)}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("seconds "):
                return float(line.split()[1])
        raise RuntimeError(f"Spark Connect ended:\n{(self._folder / 'connect.log').read_text()[-2000:]}")


def submit_seconds(home: Path, folder: Path, query: str) -> float:
    """Return the seconds of a program with one query under `spark-submit`, from its start to its end."""
    program = folder / "program.py"
    program.write_text(_PROGRAM)
    submit = next((home / "lib").glob("python3*/site-packages/pyspark/bin/spark-submit"))
    environment = _environment(folder) | {"PYSPARK_PYTHON": str(home / "bin" / "python")}
    command = [str(submit), "--master", MASTER, "--conf", "spark.ui.enabled=false", str(program), query]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
    return time.perf_counter() - started


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "HOME": str(folder)}


def main() -> None:
    """Answer queries until the input ends."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(MASTER).config("spark.ui.enabled", "false").getOrCreate()
    for line in sys.stdin:
        query = json.loads(line)
        started = time.perf_counter()
        spark.sql(query).toPandas()
        print("seconds", time.perf_counter() - started, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
