"""Spark as Python packages in its own virtual environment: its jars, and a Python with pyspark."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.packages import (
    PackageLock,
    damaged_packages,
    install_into_environment,
    locked_packages,
)
from svc_jupyter.service.installs.progress import Say

_PACKAGE = "spark"


def version() -> str:
    """Return the version that this package installs."""
    return locked_packages(_PACKAGE).version


def installed(installation: Installation) -> Installed | None:
    """Return the environment as an engine: `home` is the environment, `jars` are those inside pyspark."""
    lock = locked_packages(_PACKAGE)
    home = _home(installation, lock)
    if not home.is_dir():
        return None
    jars = sorted(home.glob("lib/python*/site-packages/pyspark/jars/*.jar"))
    return Installed(Engine.SPARK, lock.version, home, tuple(jars))


async def install(installation: Installation, say: Say) -> None:
    """Make the environment when it is missing; raises `EngineFailure`."""
    lock = locked_packages(_PACKAGE)
    what = f"installing spark {lock.version} from the package index (456 MB)"
    await installation.make_once(_home(installation, lock), say, what, partial(install_into_environment, lock))


def damaged_files(installation: Installation) -> list[str]:
    """Return the files of the environment's packages that do not match the packages' records."""
    packages = _home(installation, locked_packages(_PACKAGE)).glob("lib/python*/site-packages")
    return [damaged for folder in packages for damaged in damaged_packages(folder)]


def _home(installation: Installation, lock: PackageLock) -> Path:
    return installation.root / lock.folder_name
