"""The jars of Hadoop's S3 client: beside the engines, installed once an account's storage is an S3 store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.lock import locked
from svc_jupyter.service.engines.progress import Say

S3_CLIENT: Final = "hadoop-s3"
"""The name of their lock."""


async def s3_jars(engines: Engines, say: Say) -> tuple[Path, ...]:
    """Return them, installed when missing; `say` hears of it. Raises `EngineFailure`."""
    lock = locked(S3_CLIENT)
    await engines.installation.install(lock, say)
    return engines.installation.jars(lock)
