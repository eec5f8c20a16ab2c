"""A real service in a process of its own, for tests that start, stop and kill it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import httpx
import sqlalchemy as sa

from svc_jupyter.service.commands.rows import command_root
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.commands import commands

START_SECONDS = 30.0
DATABASE_IS_AWAY = (
    r"\n(psycopg|sqlalchemy)\.\S*(OperationalError|InterfaceError|TimeoutError|AdminShutdown|CannotConnectNow)\b"
)
"""In an exception, for `ServiceProcess.exceptions`: what an outage may break off at any point."""


def wait_until(condition: Callable[[], Any], what: str = "it", seconds: float = 20.0) -> Any:
    """Return the first true value of `condition`, looked at again and again.

    The longer it has taken, the longer the pauses: a look every 20 ms slows what it waits for.
    """
    begun = time.monotonic()
    while not (value := condition()):
        waited = time.monotonic() - begun
        if waited > seconds:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(min(0.5, max(0.02, waited / 10)))
    return value


class ServiceProcess:
    """`svc-jupyter serve` on a data folder; settings are given as `SVC_…` variables."""

    launcher: tuple[str, ...] = ()
    """The beginning of the command line, of a program that runs the rest of it."""
    python: str = sys.executable
    """The Python whose package it runs."""

    def __init__(self, data_dir: Path, **settings: object) -> None:
        self.data_dir = data_dir
        self.settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._client: httpx.Client | None = None

    @classmethod
    def found(cls, data_dir: Path) -> Self:
        """Return the service that runs on a data folder, which this process may not have started."""
        service = cls(data_dir)
        told = json.loads(service.token_file.read_text())
        service.base_url, service.token = told["base_url"], told["token"]
        service._client = service.client(service.token)
        return service

    def start(self, *arguments: str) -> Self:
        """Start it and wait for its ready line."""
        assert self._process is None
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with self.log_file.open("a") as log:
            self._process = subprocess.Popen(
                [
                    *self.launcher,
                    *(self.python, "-m", "svc_jupyter", "serve", "--data-dir", str(self.data_dir)),
                    *arguments,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self.environment(),
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith("ready "):
            code = self._process.wait(START_SECONDS)
            self._process.stdout.close()
            self._process = None
            raise AssertionError(f"exit code {code}: {self.log_file.read_text()[-2000:]}")
        self.base_url = line.split()[1]
        # Of replicas that start together the first to hold the folder writes it.
        wait_until(self.token_file.exists, "service.json")
        self.token = json.loads(self.token_file.read_text())["token"]
        self._client = self.client(self.token)
        return self

    def environment(self) -> Mapping[str, str]:
        """Return the environment it is started in."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        isolation = os.environ.get("SVC_ISOLATION", "off")
        if isolation != "off":  # scripts of tests write into their test's folder
            clean["SVC_FILE_ROOTS"] = json.dumps([tempfile.gettempdir()])
        clean["SVC_ISOLATION"] = isolation
        return clean | {f"SVC_{name.upper()}": str(value) for name, value in self.settings.items()}

    @property
    def token_file(self) -> Path:
        return self.data_dir / "service.json"

    @property
    def log_file(self) -> Path:
        return self.data_dir / "serve.log"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def client(self, token: str | None) -> httpx.Client:
        """Return a client with a token."""
        headers = {} if token is None else {"X-AUTH-TOKEN": token}
        return httpx.Client(base_url=f"{self.base_url}/api/v1.2", headers=headers, timeout=90, trust_env=False)

    @property
    def http(self) -> httpx.Client:
        """A client with the administrator's token."""
        assert self._client is not None
        return self._client

    def submit(self, script: str, **fields: Any) -> dict[str, Any]:
        """Submit a shell command; return its record."""
        body = {"command_type": "ShellCommand", "inline": script, **fields}
        response = self.http.post("/commands", json=body)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def record(self, command_id: int) -> dict[str, Any]:
        response = self.http.get(f"/commands/{command_id}")
        assert response.status_code == 200, response.text
        return dict(response.json())

    def ended(self, command_id: int, seconds: float = 30.0) -> dict[str, Any]:
        """Wait for the end of a command; return its record."""

        def look() -> dict[str, Any] | None:
            record = dict(self.http.get(f"/commands/{command_id}", params={"wait": 5}).json())
            return record if record["status"] in ("done", "error", "cancelled") else None

        return dict(wait_until(look, f"the end of command {command_id}", seconds))

    def text(self, command_id: int) -> str:
        """Return the results as text."""
        return str(self.http.get(f"/commands/{command_id}/results").json()["results"])

    def logs(self, command_id: int) -> str:
        return self.http.get(f"/commands/{command_id}/logs").text

    def folder(self, command_id: int) -> Path:
        """Return the command's folder on disk, which may not be there yet."""
        settings = Settings(data_dir=self.token_file.parent, database_url=self.settings.get("database_url"))
        engine = sa.create_engine(settings.sqlalchemy_url)
        try:
            with engine.connect() as connection:
                query = sa.select(commands.c.id, commands.c.folder_key).where(commands.c.id == command_id)
                return command_root(settings.commands_dir, *connection.execute(query).one())
        finally:
            engine.dispose()

    def exceptions(self, *, but: str | None = None) -> list[str]:
        """Return the exceptions in its log that its code did not expect, without those that match a pattern.

        Others of its log's lines, also at level error, report what happened to it or to its clusters.
        """
        lines = self.log_file.read_text().splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        found = [str(entry["exception"]) for entry in entries if entry["level"] == "error" and "exception" in entry]
        return [exception for exception in found if but is None or not re.search(but, exception)]

    def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End it in good order; return the exit code."""
        return self._end(signal.SIGTERM)

    def wait_for_exit(self) -> int:
        """Wait until it ends by itself; return the exit code."""
        return self._end(None)

    def _end(self, number: signal.Signals | None) -> int:
        if self._client is not None:
            self._client.close()
        if self._process is None:
            return 0
        if number is not None:
            self._process.send_signal(number)
        code = self._process.wait(START_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
        return code
