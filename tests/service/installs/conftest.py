"""A Maven repository on this machine that serves a small lock, and does what repositories do on bad days."""

from __future__ import annotations

import hashlib
import http.server
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svc_jupyter.service.installs.download import Patience
from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.lock import Lock, parse

PATIENCE = Patience(tries=3, first_pause=0.01, longest_pause=0.05)
KILOBYTES = 300

Fault = Callable[["Handler", bytes], None]
"""Answers a request for a file instead of the repository."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves files with ranges; a fault that was planned for a path answers first."""

    protocol_version = "HTTP/1.1"
    server: Repository

    def do_GET(self) -> None:
        path = self.path.lstrip("/")
        self.server.requests[path] += 1
        self.server.ranges[path].append(self.headers.get("Range"))
        content = self.server.files.get(path)
        faults = self.server.faults[path]
        if faults:
            faults.pop(0)(self, content or b"")
        elif content is None:
            self.answer(404, b"not here")
        else:
            self.serve(content)

    def serve(self, content: bytes) -> None:
        asked = self.headers.get("Range")
        if asked is None:
            return self.answer(200, content)
        first = int(asked.removeprefix("bytes=").rstrip("-"))
        told = {"Content-Range": f"bytes {first}-{len(content) - 1}/{len(content)}"}
        return self.answer(206, content[first:], told)

    def answer(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = length is not None

    def log_message(self, *arguments: object) -> None:
        pass


class Repository(http.server.ThreadingHTTPServer):
    """Files by path, the faults that the next requests for a path meet, and what was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.requests: Counter[str] = Counter()
        self.ranges: dict[str, list[str | None]] = defaultdict(list)
        self.gone = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def add(self, path: str, seed: int, kilobytes: int = KILOBYTES) -> str:
        """Put a file there; return its line in a lock."""
        content = random.Random(seed).randbytes(kilobytes * 1024)
        self.files[path] = content
        return f"{path} {hashlib.sha256(content).hexdigest()} {len(content)}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is what these tests are about."""


@pytest.fixture
def repository() -> Iterator[Repository]:
    server = Repository()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.gone.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def lock(repository: Repository) -> Lock:
    """An engine of three files, whose class path is not in the order of the alphabet."""
    lines = [repository.add(f"org/example/{name}/1.0/{name}-1.0.jar", seed) for seed, name in enumerate("bac")]
    return parse("tiny-1.0.lock", "\n".join(lines))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "engines"


@pytest.fixture
def installation(root: Path, repository: Repository) -> Installation:
    return Installation(root, lambda: repository.address, PATIENCE)


@pytest.fixture
def said() -> list[str]:
    return []
