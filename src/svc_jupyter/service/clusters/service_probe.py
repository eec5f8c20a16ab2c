"""Looking at a service that stands beside a cluster's own daemons: the Hive metastore, HiveServer2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from svc_jupyter.service.clusters.instances import Instance


@dataclass(frozen=True, slots=True)
class ServiceLook:
    """What a look at a service found. `heap_percent` is 0..100, None where it could not be read."""

    is_alive: bool
    """Whether its process is there."""
    is_responsive: bool
    """Whether it answered a real question within the time that a look may take."""
    heap_percent: float | None = None


class ServiceProbe(Protocol):
    """Looks at a service of an account or a cluster."""

    async def look(self, instance: Instance) -> ServiceLook | None:
        """Return how the service is that the instance uses; None when nothing has needed it yet, so it is not started.

        Starts nothing. Called about once a second; a look that takes longer than 2 s counts as no answer.
        """
        ...
