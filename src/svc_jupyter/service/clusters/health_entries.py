"""Entries of the health record (heap, state of a daemon, of a service, of a machine) and the checks behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from svc_jupyter.service.clusters.cluster_engine import ServiceLook, ServiceProbe
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import Provider, ProviderFailure

ANSWER_SECONDS: Final = 2.0
"""What takes longer to answer counts as down (a suspended daemon still accepts connections)."""

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


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of a service; `is_known` is False when the check took too long."""

    look: ServiceLook | None
    is_known: bool = True

    @property
    def heap_percent(self) -> float | None:
        """The used share of its heap, 0..100; None where it is not known."""
        return None if self.look is None else self.look.heap_percent


async def state_of(probe: ServiceProbe | None, instance: Instance) -> ServiceState:
    """Return the state of a service; None stands for one that is never started."""
    if probe is None:
        return ServiceState(None)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return ServiceState(await probe.look(instance))
    except TimeoutError:
        return ServiceState(None, is_known=False)


async def load_of_master(providers: Mapping[str, Provider], instance: Instance) -> Mapping[str, float]:
    """Return the load of the coordinator's machine, empty where it is not known."""
    if instance.master is None:
        return {}
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await providers[instance.provider].machine(instance, instance.master).load()
    except (TimeoutError, ProviderFailure):
        return {}


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


def service_entry(state: ServiceState) -> dict[str, Any]:
    """Return the entry of a service. One that was not needed yet is DOWN, but no problem."""
    look = state.look if state.is_known else ServiceLook(is_alive=False, is_responsive=False)
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
