"""An S3 store as the client of Hadoop needs it: it keeps the marks of folders, and checks each request's signature.

It runs in a Python of its own, which uv makes once per machine: what the server needs does not go with what the project
needs. `with s3_store() as store:` gives it with an empty bucket.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obstore.store import S3Store
from uv import find_uv_bin

BUCKET = "lake"
_NEEDS = ("moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5")
_STOP_SECONDS = 10


@dataclass(frozen=True)
class S3Server:
    """A running server."""

    endpoint: str
    access_key: str
    secret_key: str

    @property
    def record(self) -> dict[str, Any]:
        """The body of `PUT account/storage`."""
        keys = {"access_key": self.access_key, "secret_key": self.secret_key}
        return {"url": f"s3://{BUCKET}", "endpoint": self.endpoint, **keys}

    def put(self, key: str, content: bytes) -> None:
        """Write an object."""
        self._bucket().put(key, content)

    def text(self, prefix: str) -> str:
        """Return what all objects hold whose keys are below a folder, in the order of the keys."""
        bucket = self._bucket()
        filled = sorted(item["path"] for item in bucket.list(prefix).collect() if item["size"])  # no folder's mark
        return b"".join(bytes(bucket.get(key).bytes()) for key in filled).decode()

    def keys(self, prefix: str) -> list[str]:
        """Return the keys below a folder, at any depth."""
        return sorted(item["path"] for item in self._bucket().list(prefix).collect())

    def _bucket(self) -> S3Store:
        return S3Store(
            BUCKET,
            config={
                "endpoint": self.endpoint,
                "region": "us-east-1",
                "access_key_id": self.access_key,
                "secret_access_key": self.secret_key,
            },
            client_options={"allow_http": True},
        )


@contextmanager
def s3_store() -> Iterator[S3Server]:
    """Give a server; it is ended afterwards."""
    needs = [word for need in _NEEDS for word in ("--with", need)]
    program = Path(__file__).with_name("program.py")
    command = [find_uv_bin(), "run", "--no-project", "--isolated", "--quiet", *needs, "python", str(program), BUCKET]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=program.parent
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told = json.loads(process.stdout.readline())
        yield S3Server(told["endpoint"], *told["keys"])
    finally:
        process.stdin.close()
        process.wait(_STOP_SECONDS)
        process.stdout.close()
