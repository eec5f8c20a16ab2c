"""Why an application does not run yet, from YARN's list of those that have not ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from svc_jupyter.service.runtimes.hadoop.yarn_rest import RUNNING


def wait_in(living: Iterable[Mapping[str, Any]], tag: str) -> str | None:
    """Return the wait of the applications with a tag, from all those of a cluster that have not ended.

    An application whose master has a container does not wait, although YARN calls it ACCEPTED until the master runs.
    """
    living = list(living)
    own = [application for application in living if tag in str(application.get("applicationTags") or "").split(",")]
    if not own or any(application["state"] == RUNNING or _has_room(application) for application in own):
        return None
    first = min(own, key=_turn)
    others = [application for application in living if application.get("queue") == first.get("queue")]
    before = sum(_turn(application) < _turn(first) for application in others)
    reason = reason_in(str(first.get("diagnostics") or ""))
    if before:
        wait = f"waiting for YARN: {before} {'job' if before == 1 else 'jobs'} before it"
    else:
        wait = "waiting for YARN: it is next" + ("" if reason else ", without room for it yet")
    return f"{wait}. {reason}" if reason else wait


_TIME: Final = re.compile(r"^\[[^]]*\]\s*")
_STATE: Final = re.compile(
    r"Application is added to the scheduler and is not yet activated\.|"
    r"Application is Activated, waiting for resources to be assigned for AM\.|"
    r"Scheduler has assigned a container for AM, waiting for AM container to be launched|"
    r"AM container is launched, waiting for AM container to Register with RM"
)
"""Hadoop's sentences of `SchedulerApplicationAttempt.AMState`, which say no more than `wait_in` does."""
_DETAILS: Final = re.compile(r"\s*Details : .*", re.DOTALL)
_REQUEST: Final = re.compile(r"\(Resource request: (<[^>]*>) (.*?)\)?\.?$", re.DOTALL)
_RESOURCES: Final = re.compile(r"<memory:(\d+),[^>]*?\bvCores:(\d+)[^>]*>")
_RESERVED: Final = re.compile(r" and the request (?:is|cannot be) reserved\b")


def reason_in(diagnostics: str) -> str:
    """Return the reason in an application's `diagnostics` in YARN's words, without its details; "" if there is none."""
    words = _DETAILS.sub("", _STATE.sub("", _TIME.sub("", diagnostics.strip()))).strip()
    words = _RESERVED.sub("", _REQUEST.sub(r"Resource request (\1) \2", words))
    return " ".join(_RESOURCES.sub(_resources, words).split()).rstrip(".")


def _resources(match: re.Match[str]) -> str:
    megabytes, cores = (int(number) for number in match.groups())
    return f"{megabytes:,} MB, {cores} {'vCore' if cores == 1 else 'vCores'}"


def _has_room(application: Mapping[str, Any]) -> bool:
    """Return whether an application has a container; YARN gives -1 before its first attempt."""
    return int(application.get("runningContainers") or 0) > 0


def _turn(application: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the place of an application among all: the start of its ResourceManager, and its number."""
    return tuple(int(part) for part in str(application["id"]).split("_")[1:])
