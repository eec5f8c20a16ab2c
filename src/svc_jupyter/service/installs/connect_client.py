"""The Python client of Spark Connect, in a folder of its own.

Processes that speak with such a server have the folder on their path; its pandas and protobuf are not the service's.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.packages import install_into_folder, locked_packages
from svc_jupyter.service.installs.progress import Say

_PACKAGE = "sparkconnect"


def folder(root: Path) -> Path:
    """Return where it is, or will be, below the engines' folder."""
    return root / locked_packages(_PACKAGE).folder_name


async def install(installation: Installation, say: Say) -> Path:
    """Return the folder, installed when missing; raises `EngineFailure`."""
    lock, home = locked_packages(_PACKAGE), folder(installation.root)
    what = f"installing the client of Spark Connect {lock.version} from the package index (95 MB)"
    await installation.make_once(home, say, what, partial(install_into_folder, lock))
    return home
