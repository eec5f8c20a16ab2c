"""The embedded service as the command line sees it: the one of the data folder, whatever service is configured."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from svc_jupyter.client import Client, Settings
from svc_jupyter.client.config import DEFAULT_PROFILE, EMBEDDED, data_folder
from svc_jupyter.client.embedded import EmbeddedService


def embedded_service() -> EmbeddedService:
    """Return the service of `SVC_DATA_DIR` or the platform's data folder, running or not."""
    return EmbeddedService(data_folder(os.environ))


def embedded_client() -> Client:
    """Return a client of the embedded service, which the first call starts where it does not run."""
    return Client(config=Settings(None, None, EMBEDDED, DEFAULT_PROFILE, data_folder(os.environ)))


def is_held(data_dir: Path) -> bool:
    """Whether a service holds the lock of the data folder: a `service.json` that was left behind proves nothing."""
    try:
        with (data_dir / "service.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
