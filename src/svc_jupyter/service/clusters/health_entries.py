"""Entries of the health record: heap, state of a daemon, of a service, of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from svc_jupyter.service.clusters.cluster_engine import ServiceLook

UP: Final = "UP"
DOWN: Final = "DOWN"
GREEN: Final = "green"
YELLOW: Final = "yellow"
RED: Final = "red"
YELLOW_FROM: Final = 80.0
RED_FROM: Final = 95.0
"""Percent of the heap in use. A healthy JVM also fills its heap before a collection: only a nearly full one is bad."""
_NOT_STARTED: Final = "not started: the first command that needs it starts it"
_SILENT: Final = "it does not answer"


def number(value: float | None) -> str:
    """Return a number for the record, with one digit after the point; 0.0 for None."""
    return f"{value or 0.0:.1f}"


def status_of(is_up: bool) -> str:
    """Return the status of a daemon."""
    return UP if is_up else DOWN


def heap_entry(percent: float | None) -> dict[str, str]:
    """Return the `heap` of the record; red where it could not be read."""
    if percent is None:
        return {"usage_percent": number(None), "status": RED}
    status = RED if percent >= RED_FROM else YELLOW if percent >= YELLOW_FROM else GREEN
    return {"usage_percent": number(percent), "status": status}


def service_entry(look: ServiceLook | None, *, is_known: bool = True) -> dict[str, Any]:
    """Return the entry of a service. None means that it was not needed yet: DOWN, but no problem.

    `is_known` is False when its check took too long.
    """
    if not is_known:
        look = ServiceLook(is_alive=False, is_responsive=False)
    if look is None:
        return {**_states(False, False), "heap": heap_entry(0.0), "reason": _NOT_STARTED}
    entry = {**_states(look.is_responsive, look.is_alive), "heap": heap_entry(look.heap_percent)}
    return entry if look.is_responsive else {**entry, "reason": _SILENT}


def master_entry(load: Mapping[str, float]) -> dict[str, Any]:
    """Return `system.master`: percent of CPU and disk in use; no current provider loses spot machines."""
    return {
        "cpu_usage": number(load.get("cpu_percent")),
        "disk_usage": number(load.get("disk_percent")),
        "spotloss_count": 0,
    }


def _states(is_responsive: bool, is_alive: bool) -> dict[str, str]:
    return {"responsiveness_status": status_of(is_responsive), "liveliness_status": status_of(is_alive)}
