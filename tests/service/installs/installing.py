"""A process of its own that installs: `python installing.py ROOT REPOSITORY LOCK_FILE`; its lines go to stdout."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from svc_jupyter.service.installs.download import Patience
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.lock import parse


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    root, repository, lock_file = sys.argv[1:]
    installation = Installation(Path(root), lambda: repository, Patience())
    lock = parse(Path(lock_file).name, Path(lock_file).read_text())
    try:
        asyncio.run(installation.install(lock, say))
    except EngineFailure as failure:
        sys.exit(f"{type(failure).__name__}: {failure.message}")
