"""A running Jupyter server with Jupyter Scheduler: the alternative service that runs notebooks."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.surroundings import environment

_START_SECONDS = 60.0
_RUN_SECONDS = 120.0
_LOOK_EVERY = 0.02
_ENVIRONMENTS = "jupyter_scheduler.environments.StaticEnvironmentManager"


class JobServer:
    """The server's scheduler, over HTTP."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._environment: str = client.get("runtime_environments").raise_for_status().json()[0]["name"]

    def run(self, notebook: str) -> None:
        """Run a notebook of the server's folder to its end."""
        job = {"name": notebook, "input_uri": notebook, "runtime_environment_name": self._environment}
        job_id = self._client.post("jobs", json=job).raise_for_status().json()["job_id"]
        deadline = time.monotonic() + _RUN_SECONDS
        while (status := self._client.get(f"jobs/{job_id}").raise_for_status().json()["status"]) != "COMPLETED":
            if status == "FAILED" or time.monotonic() > deadline:  # a job that has not started is STOPPED
                raise RuntimeError(f"the job of {notebook} is {status}")
            time.sleep(_LOOK_EVERY)


@contextmanager
def job_server(folder: Path, notebooks: Path) -> Iterator[JobServer]:
    """Start the server on a folder of notebooks, yield it once it answers, and stop it."""
    token = secrets.token_hex(16)
    environ = environment(folder, JUPYTER_TOKEN=token)
    log_file = folder / "server.log"
    with log_file.open("w") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser", "--port=0"),
                f"--ServerApp.root_dir={notebooks}",
                f"--SchedulerApp.environment_manager_class={_ENVIRONMENTS}",
                "--SchedulerApp.db_url=sqlite:///" + str(folder / "scheduler.db"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environ,
        )
    try:
        address = _address(Path(environ["HOME"]), process, log_file)
        headers = {"Authorization": f"token {token}"}
        with httpx.Client(base_url=f"{address}scheduler/", headers=headers, timeout=_RUN_SECONDS) as client:
            yield JobServer(client)
    finally:
        process.terminate()
        try:
            process.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(home: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the server's address, from the file it writes."""
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        for file in home.rglob(f"jpserver-{process.pid}.json"):
            if text := file.read_text():
                return str(json.loads(text)["url"])
        time.sleep(_LOOK_EVERY)
    raise RuntimeError(f"the Jupyter server did not start:\n{log.read_text()[-2000:]}")
