"""Explains to users why a daemon ended, from its output."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Final

_TAKEN: Final = re.compile(r"BindException")
_ADDRESS: Final = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3}):(\d{2,5})")
_DISK_FULL: Final = ("No space left on device", "Disk quota exceeded")
_OUT_OF_MEMORY: Final = ("OutOfMemoryError", "Cannot allocate memory", "insufficient memory")
_KILLED: Final = 137
_STACK: Final = re.compile(r"^\s+(?:at |\.\.\. )")


def explain(daemon: str, host: str, output: str, exit_code: int | None) -> str:
    """Return why a daemon ended: what happened, where, and what to do; `output` is the end of its error output."""
    begin = f"{daemon} on {host} ended"
    for line in output.splitlines():
        if _TAKEN.search(line) and (found := _ADDRESS.search(line)):
            address, port = found.groups()
            return (
                f"{begin}: another program listens at {address}:{port}. "
                f"`ss -ltnp sport = :{port}` names it; end it, then start the cluster again"
            )
    if any(words in output for words in _DISK_FULL):
        return f"{begin}: the disk is full. Make room on it, then start the cluster again"
    if any(words in output for words in _OUT_OF_MEMORY):
        return f"{begin}: it did not have enough memory. End other programs, or request fewer nodes"
    if exit_code == _KILLED:
        return f"{begin}: it was killed (signal 9), as the system does when memory is short"
    last = last_words(output)
    code = "" if exit_code is None else f" with exit code {exit_code}"
    return f"{begin}{code}: {last}" if last else f"{begin}{code} and wrote nothing"


def disk_failure(folder: Path, error: OSError) -> str:
    """Return why the service could not write a cluster's files, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk of {folder} is full: make room there, or move the data folder (SVC_DATA_DIR)"
    return f"{error.filename or folder} cannot be written: {error.strerror or error}"


def last_words(output: str) -> str:
    """Return the last meaningful line, skipping stack frames."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _STACK.match(line)]
    causes = [line for line in lines if line.startswith("Caused by:") or "Exception" in line]
    return (causes or lines or [""])[-1][:500]


_MISSING: Final = re.compile(
    r"No FileSystem for scheme[: ]+\"?(?P<scheme>\w+)\"?"
    r"|Class org\.apache\.hadoop\.fs\.(?P<client>gs|s3a|azurebfs|adl)\.[\w.$]+ not found"
)
_SCHEMES: Final = {"azurebfs": "abfss", "s3a": "s3"}
_S3: Final = frozenset({"s3", "s3a", "s3n"})


def unopened_scheme(message: str) -> str | None:
    """Return the scheme of the location that could not be opened; None for any other failure."""
    found = _MISSING.search(message)
    if found is None:
        return None
    name = found["scheme"] or found["client"]
    return _SCHEMES.get(name, name)


def explained(message: str) -> str:
    """Return the failure with what to do if its cause is such a location, or else unchanged."""
    scheme = unopened_scheme(message)
    if scheme is None:
        return message
    if scheme in _S3:
        advice = "it opens only where the account's storage is an S3 store (PUT account/storage)"
    else:
        advice = (
            "Pig, Hive and Hadoop's programs open file:, hdfs: and, where the account's storage is an S3 store, s3: "
            "locations: copy the data to one of these first"
        )
    return f"{message}\n{scheme}: locations are not opened here; {advice}"
