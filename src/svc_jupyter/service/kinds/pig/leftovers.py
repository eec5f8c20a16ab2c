"""What a run leaves: its temporary files and, if it failed, what it had begun to store.

All or nothing: a failed script leaves no output, so that it can run again. The run records each location before it
writes there (`stores.json`), and only locations that did not exist; so nothing older is ever removed.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from svc_jupyter.service.installs.engine import Engine, class_path
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.kinds.pig.job import SCRATCH_FILE, STORES_FILE
from svc_jupyter.service.processes.tool import run
from svc_jupyter.service.runtimes.hadoop.site_files import site_file
from svc_jupyter.service.runtimes.s3 import token_file
from svc_jupyter.service.runtimes.s3.access import S3Access
from svc_jupyter.service.runtimes.s3.account_store import s3_jars
from svc_jupyter.service.storage.failures import StorageFailure


def begun_stores(folder: Path) -> list[str]:
    """Return the URIs that the attempt in a folder has begun to store."""
    try:
        stored = json.loads((folder / STORES_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return []
    return [str(location) for location in stored]


def remove_scratch(folder: Path) -> None:
    """Remove the temporary files of the attempt in a folder; safe to repeat."""
    try:
        scratch = (folder / SCRATCH_FILE).read_text("utf-8").strip()
    except FileNotFoundError:
        return
    shutil.rmtree(scratch, ignore_errors=True)


def remove_local_stores(folder: Path) -> list[str]:
    """Remove what the attempt in a folder has begun to store on this machine; return the URIs that existed."""
    removed = []
    for location in begun_stores(folder):
        uri = urlsplit(location)
        path = Path(unquote(uri.path))
        if uri.scheme == "file" and path.exists():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            removed.append(location)
    return removed


SCHEMES: Final = frozenset({"s3", "s3a", "s3n"})
_OPTIONS: Final = ("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_SHELL: Final = "org.apache.hadoop.fs.FsShell"
_SECONDS: Final = 120.0
_DELETED: Final = "Deleted "


def begun_in_s3(folder: Path) -> list[str]:
    """Return the URIs that the attempt in a folder has begun to store in an S3 store."""
    return [location for location in begun_stores(folder) if urlsplit(location).scheme in SCHEMES]


async def remove_s3_stores(folder: Path, access: S3Access, engines: Engines, say: Say) -> list[str]:
    """Remove what the attempt in a folder has begun to store in an S3 store; return the URIs that existed.

    It uses the client that wrote it, which knows the objects that make a folder there. Raises `EngineFailure`, and
    `StorageFailure` with the store's message.
    """
    begun = await asyncio.to_thread(begun_in_s3, folder)
    if not begun:
        return []
    conf, secrets = folder / "s3-conf", folder / "s3-secrets"
    await asyncio.to_thread(_write, conf, secrets, access)
    try:
        arguments = await _arguments(engines, conf, begun, say)
        environment = {"PATH": os.defpath, "HOME": str(folder), token_file.VARIABLE: str(secrets)}
        ended = await run(arguments, seconds=_SECONDS, env=environment)
    except (OSError, TimeoutError) as error:
        raise StorageFailure(f"{', '.join(begun)}: {error or 'the store did not answer in time'}") from error
    finally:
        await asyncio.to_thread(secrets.unlink, missing_ok=True)
    if ended.code:
        raise StorageFailure(ended.last_lines)
    return [line.removeprefix(_DELETED) for line in ended.output.splitlines() if line.startswith(_DELETED)]


def _write(conf: Path, secrets: Path, access: S3Access) -> None:
    conf.mkdir(mode=0o700, exist_ok=True)
    (conf / "core-site.xml").write_bytes(site_file(access.settings))
    (conf / "log4j.properties").write_text("log4j.rootLogger=OFF\n", "ascii")
    token_file.write_token_file(secrets, access.secrets)


async def _arguments(engines: Engines, conf: Path, locations: Sequence[str], say: Say) -> list[str]:
    installed = await engines.ensure(Engine.PIG, say)
    java = (await engines.java(say)).java
    jars = (*installed.jars, *await s3_jars(engines, say))
    remove = ("-rm", "-r", "-f", "-skipTrash", *locations)
    return [str(java), *_OPTIONS, "-cp", class_path(jars, conf), _SHELL, *remove]
