"""The embedded service of this machine: found by `service.json` in its data folder, started when none runs.

It is a separate process that outlives its starter. Two processes that start it at once get one service: the lock
`start.lock` lets one of them start it, and the other then finds it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from svc_jupyter.api.paths import NOTEBOOK_VARIABLE
from svc_jupyter.api.run_connection import CONNECTION_FILE
from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.errors import EmbeddedServiceFailed

PROGRAM = (sys.executable, "-m", "svc_jupyter", "serve", "--embedded")
START_SECONDS = 60.0
"""Time limit for a start; it takes about 1.5 s on an idle machine."""
ALREADY_RUNNING = 3
"""Exit code of a service that found another service on its data folder."""
_LOOK_EVERY = 0.02
_LOOKS = 3
"""Another process may hold a lock for this long while it checks it."""
_LOG_LINES = 15
_NOT_FOR_THE_SERVICE = frozenset({"SVC_API_TOKEN", "SVC_BASE_URL", "SVC_PROFILE", CONNECTION_FILE, NOTEBOOK_VARIABLE})
"""What is this process's own: its connection, and the notebook that it is the kernel of."""


@dataclass(frozen=True, slots=True)
class RunningService:
    """What a running service writes about itself."""

    base_url: str
    token: str = field(repr=False)
    pid: int
    version: str


def needs_no_start(settings: Settings) -> bool:
    """Return whether a call would reach a service as it is; none is made."""
    return not settings.embedded or EmbeddedService(settings.data_dir).find() is not None


class EmbeddedService:
    """The service of one data folder."""

    def __init__(
        self, data_dir: Path, *, program: Sequence[str] = PROGRAM, start_seconds: float = START_SECONDS
    ) -> None:
        self.data_dir = data_dir
        self._program = program
        self.log = data_dir / "service.log"
        self._start_seconds = start_seconds

    def find(self) -> RunningService | None:
        """Return the running service, or None when its file is missing or its lock is free.

        A process number would prove nothing: another program may have taken it, and the port.
        """
        try:
            with (self.data_dir / "service.json").open("rb") as file:
                content = json.loads(file.read())
                is_there = _is_locked(file) if content.get("is_locked") else self.is_held()
            service = RunningService(
                str(content["base_url"]), str(content["token"]), int(content["pid"]), str(content.get("version", ""))
            )
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            raise EmbeddedServiceFailed(
                f"{self.data_dir / 'service.json'} belongs to another user; set SVC_DATA_DIR to a folder of your own"
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            return None  # incomplete, or left by another program: a start replaces it
        return service if is_there else None

    def is_held(self) -> bool:
        """Return whether a service holds the data folder, even one that publishes no address."""
        try:
            with (self.data_dir / "service.lock").open("r+b") as lock:
                return _is_locked(lock, shared=True)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def postgresql(self) -> str | None:
        """Return a description of the PostgreSQL database that the folder belongs to, or None."""
        try:
            content = json.loads((self.data_dir / "identity.json").read_text(encoding="utf-8"))
            return str(content["database"]) if content["kind"] == "postgresql" else None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError):
            return None  # the starting service reports what is wrong with it

    def find_or_start(self, *, unanswered: str | None = None) -> RunningService:
        """Return the running service; start one if none runs. Blocks up to `start_seconds`.

        `unanswered` is an address that just refused a call. Raises EmbeddedServiceFailed with the end of the service's
        log and the action to take.
        """
        service = self.find()
        if service is not None and service.base_url != unanswered:
            return service
        deadline = time.monotonic() + self._start_seconds
        self._make_data_dir()
        self._refuse_without_its_database()
        with self._start_lock(deadline):
            service = self.find()
            if service is not None and _answers(service.base_url):
                return service
            return self._await_answer(deadline)

    def _make_data_dir(self) -> None:
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EmbeddedServiceFailed(
                f"the data folder {self.data_dir} cannot be made: {error.strerror}; set SVC_DATA_DIR to another one"
            ) from error

    def _refuse_without_its_database(self) -> None:
        """Refuse to start a service without its PostgreSQL address: it would use SQLite."""
        database = self.postgresql()
        if database is None or "SVC_DATABASE_URL" in os.environ:
            return
        where = "works on it, but its address is not known here" if self.is_held() else "does not run"
        raise EmbeddedServiceFailed(
            f"the data folder {self.data_dir} belongs to the PostgreSQL database {database}, and its service {where}. "
            "Set SVC_BASE_URL and SVC_API_TOKEN to those of the service; or start one with SVC_DATABASE_URL set to the "
            "database; or set SVC_DATA_DIR to another folder"
        )

    @contextmanager
    def _start_lock(self, deadline: float) -> Iterator[None]:
        import fcntl

        with (self.data_dir / "start.lock").open("a") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise self._failed("another process has been starting it for too long") from None
                    time.sleep(_LOOK_EVERY)
            yield

    def _start(self) -> subprocess.Popen[bytes]:
        if find_spec("uvicorn") is None or find_spec("fastapi") is None or find_spec("sqlalchemy") is None:
            raise EmbeddedServiceFailed(
                "no service is configured, and the one that runs on this machine is not installed. "
                "Run: pip install 'svc-jupyter[service]'  or set SVC_BASE_URL and SVC_API_TOKEN to those of a service"
            )
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_THE_SERVICE}
        environment["SVC_DATA_DIR"] = str(self.data_dir)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            process = subprocess.Popen(
                self._program,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.data_dir,
                env=environment,
                start_new_session=True,
            )
        finally:
            os.close(log)
        # Reap the process as soon as it ends: `find` would take a zombie for a running service.
        threading.Thread(target=process.wait, name=f"svc-service-{process.pid}", daemon=True).start()
        return process

    def _await_answer(self, deadline: float) -> RunningService:
        """Start the service and wait until it answers; also accept one that was started by hand meanwhile.

        If the folder is still held by a service that is stopping, start again.
        """
        process = self._start()
        while True:
            service = self.find()
            if service is not None and _answers(service.base_url):
                return service
            code = process.returncode
            if code == ALREADY_RUNNING and service is None:
                time.sleep(_LOOK_EVERY)
                process = self._start()
            elif code is not None and code != ALREADY_RUNNING:
                raise self._failed(f"it ended with exit code {code}")
            if time.monotonic() > deadline:
                raise self._failed(f"it did not answer within {self._start_seconds:g} s")
            time.sleep(_LOOK_EVERY)

    def _failed(self, why: str) -> EmbeddedServiceFailed:
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
        except OSError:
            lines = []
        tail = "\n".join(f"  {line}" for line in lines) or "  (empty)"
        return EmbeddedServiceFailed(
            f"the embedded service of {self.data_dir} could not be started: {why}.\n"
            f"The end of {self.log}:\n{tail}\n"
            "`svc-jupyter doctor` shows what is missing; a remote service is set by SVC_BASE_URL and SVC_API_TOKEN."
        )


def _is_locked(file: IO[bytes], *, shared: bool = False) -> bool:
    """Return whether a service locks an open file; with `shared`, also count a lock that several share."""
    import fcntl

    for _ in range(_LOOKS if shared else 1):
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if shared else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOOK_EVERY if shared else 0)
        else:
            return False
    return True


def _answers(base_url: str) -> bool:
    """Return whether something listens at the address; the first answer shows whether it is the service."""
    parts = urlsplit(base_url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=2.0):
            return True
    except OSError:
        return False
