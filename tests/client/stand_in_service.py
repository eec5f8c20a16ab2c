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
import time
from pathlib import Path
from typing import IO
from uuid import uuid4


def main() -> int:
    folder, fault = Path(os.environ["SVC_DATA_DIR"]), os.environ.get("STAND_IN", "")
    with (folder / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    (folder / "environment.json").write_text(json.dumps(dict(os.environ) | {"argv": sys.argv}))
    if fault == "fails":
        sys.stdout.write("the database cannot be opened\n")
        return 1
    lock = (folder / "service.lock").open("w")
    if not took(lock):
        return 3
    if fault == "never answers":
        threading.Event().wait()
    serve(folder)
    return 0


def took(lock: IO[str]) -> bool:
    """Take a lock, as the service does: a client that looks for a service holds it for a moment."""
    deadline = time.monotonic() + 0.3
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def serve(folder: Path) -> None:
    from tests.support.double.service import ServiceDouble

    token = uuid4().hex
    with ServiceDouble(token=token) as double:
        about = {"base_url": double.base_url, "token": token, "pid": os.getpid(), "version": "0", "is_locked": True}
        part = folder / "service.json.part"
        file = os.open(part, os.O_CREAT | os.O_WRONLY, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.write(file, json.dumps(about).encode())
        part.replace(folder / "service.json")
        threading.Event().wait()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.exit(main())
