"""Why a process of ours failed, which writes that into a file of its attempt before it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from svc_jupyter.service.commands.kind import Outcome

_SIGNALLED: Final = 128


def told_failure(file: Path, code: int | None, process: str) -> Outcome:
    """Return the failure in the file, else how the process ended; `process` is what it is called then."""
    try:
        error = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return Outcome(False, f"{process} ended before it: {_how(code)}", exit_code=code)
    return Outcome(False, error["message"], exit_code=code, may_retry=error["may_retry"])


def _how(code: int | None) -> str:
    if code is None:
        return "it was killed (did memory run out?), or the machine was restarted"
    if code > _SIGNALLED:
        return f"it was ended by signal {code - _SIGNALLED}"
    return f"it failed with code {code}; the log says more"
