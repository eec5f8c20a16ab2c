"""Outcomes of failed attempts: one that could not start, or one whose process wrote the reason into a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands.kind import Outcome
from svc_jupyter.service.ground.errors import Failure, Invalid, NotFound
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.storage.failures import StorageFailure

START_FAILURES = (StorageFailure, EngineFailure, ClusterFailure, ProviderFailure, Invalid, NotFound)
"""What may prevent the start of an attempt; callers catch it and return `not_begun`."""
_SIGNALLED: Final = 128


def not_begun(failure: Failure) -> Outcome:
    """Return the outcome; an error in the command itself is not retried."""
    return Outcome(False, failure.message, may_retry=failure.may_retry)


def reported_failure(file: Path, code: int | None, process: str) -> Outcome:
    """Return the failure in the file, or else how the process ended; `process` is its name in that message."""
    try:
        error = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return Outcome(False, f"{process} ended before it: {_how(code)}", exit_code=code)
    outputs = {"failure": error["failure"]} if error.get("failure") else None
    return Outcome(False, error["message"], exit_code=code, may_retry=error["may_retry"], outputs=outputs)


def _how(code: int | None) -> str:
    if code is None:
        return "it was killed (did memory run out?), or the machine was restarted"
    if code > _SIGNALLED:
        return f"it was ended by signal {code - _SIGNALLED}"
    return f"it failed with code {code}; the log says more"
