"""A program that behaves like the embedded service towards whoever starts it: lock, service.json, an account.

It stands in for the real one (tests/integration starts that) so that its misbehaviour can be chosen: `STAND_IN` in the
environment names what goes wrong. Each start adds a line `<pid>` to the file `starts`.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

ACCOUNT = {
    "id": 1,
    "name": "default",
    "user_id": 1,
    "email": "admin@localhost",
    "groups": ["system-admin"],
    "features": {},
    "storage_url": "file:///",
    "concurrent_command_limit": 20,
}


def main() -> int:
    folder, fault = Path(os.environ["SVC_DATA_DIR"]), os.environ.get("STAND_IN", "")
    with (folder / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    (folder / "environment.json").write_text(json.dumps(dict(os.environ) | {"argv": sys.argv}))
    if fault == "fails":
        sys.stdout.write("the database cannot be opened\n")
        return 1
    lock = (folder / "service.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 3
    if fault == "never answers":
        threading.Event().wait()
    serve(folder)
    return 0


def serve(folder: Path) -> None:
    token = uuid4().hex

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            known = self.headers["X-AUTH-TOKEN"] == token
            error = {"error": {"error_code": 401, "error_message": "the token is wrong"}}
            body = json.dumps(ACCOUNT if known else error).encode()
            self.send_response(200 if known else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    about = {"base_url": f"http://127.0.0.1:{server.server_port}", "token": token, "pid": os.getpid(), "version": "0"}
    about["is_locked"] = True
    part = folder / "service.json.part"
    file = os.open(part, os.O_CREAT | os.O_WRONLY, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    os.write(file, json.dumps(about).encode())
    part.replace(folder / "service.json")
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
