"""The environment of measured processes: separate folders, no user settings, nothing left behind."""

from __future__ import annotations

import os
import site
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
"""The folder from which `benchmarks` is imported, also by child processes."""
_GRACE_SECONDS = 5.0


def environment(folder: Path, **values: str) -> dict[str, str]:
    """Return the environment for a process that keeps all its files in a folder; `values` are added to it."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "XDG_", "JUPYTER_"))}
    return kept | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "PLOOMBER_STATS_ENABLED": "false",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        "PYTHONUSERBASE": site.getuserbase(),
        **values,
    }


def keep_bytecode(folder: Path) -> None:
    """Let processes keep compiled modules in a folder, even if this machine disables bytecode files.

    Without them every start compiles all imports: several times as long, and unlike a user's machine.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


def leave_no_trace_of(folder: Path) -> None:
    """End every process that still uses a folder: commands and services outlive their starters by design."""
    left = [process for process in psutil.process_iter() if _works_for(process, str(folder))]
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(left, _GRACE_SECONDS)
    for process in stubborn:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, _GRACE_SECONDS)


def _works_for(process: psutil.Process, folder: str) -> bool:
    """Return whether a process belongs to the folder, from its environment: the home folder and the command's mark."""
    if process.pid == os.getpid():
        return False
    try:
        return any(value.startswith(folder) for value in process.environ().values())
    except (psutil.Error, OSError):
        return False
