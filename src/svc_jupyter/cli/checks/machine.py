"""Check the machine: the data folder and its disk, bash, and the isolation of users' programs."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.cli.checks.finding import Finding, fine, note, wrong

if TYPE_CHECKING:
    from svc_jupyter.service.ground.settings import Settings

LITTLE_SPACE_BYTES = 2 * 10**9
_GIGABYTE = 10**9


def check_data_folder(data_dir: Path) -> Iterator[Finding]:
    """Yield whether only the owner can write the data folder, and its free space."""
    existing = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    if not existing.is_dir() or not is_writable(existing):
        yield wrong("data folder", f"{existing} cannot be written", "set SVC_DATA_DIR to a folder of your own")
        return
    if existing != data_dir:
        yield fine("data folder", f"{data_dir} is made at the first use")
    elif stat.S_IMODE(data_dir.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        fix = f"the next start of the service puts it right; now: chmod 700 '{data_dir}'"
        yield note("data folder", f"{data_dir} can be read by other users", fix)
    else:
        yield fine("data folder", f"{data_dir}, writable")
    yield _disk(existing)


def check_user() -> Iterator[Finding]:
    """Yield a finding if the service would run as root."""
    if os.geteuid() == 0:
        yield note(
            "user",
            "root: every user who may submit a command can do anything on this machine",
            "run the service as a user of its own",
        )


def check_bash() -> Finding:
    """Return whether the shell for shell commands is installed."""
    path = shutil.which("bash")
    if path is None:
        return wrong("bash", "not on the path: shell commands cannot run", "install bash with the system's packages")
    asked = subprocess.run([path, "-c", 'echo "$BASH_VERSION"'], capture_output=True, text=True, check=False)
    return fine("bash", f"{asked.stdout.strip()} ({path})")


def is_writable(folder: Path) -> bool:
    """Return whether a file can be created: permissions do not show a read-only or full disk."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _disk(folder: Path) -> Finding:
    mount = next(place for place in (folder.resolve(), *folder.resolve().parents) if os.path.ismount(place))
    usage = shutil.disk_usage(folder)
    what = f"{usage.free / _GIGABYTE:,.1f} of {usage.total / _GIGABYTE:,.1f} GB free on {mount}"
    if usage.free < LITTLE_SPACE_BYTES:
        return note("disk", what, "make room, or set SVC_DATA_DIR to a folder on another disk")
    return fine("disk", what)


def check_isolation(settings: Settings) -> Finding:
    """Return whether a service with these settings runs users' programs in sandboxes."""
    from svc_jupyter.service.isolation.isolation import ISOLATED, Isolation, IsolationError

    try:
        decided = Isolation.of(settings)
    except IsolationError as error:
        return wrong("isolation", str(error), "or set SVC_ISOLATION=off: commands then have the service's rights")
    if decided.advice:
        return note("isolation", f"a service for a team runs commands without it: {decided.reason}", decided.advice)
    return fine("isolation", f"{f'on for {ISOLATED}' if decided.is_on else 'off'}, {decided.reason}")
