"""When a cluster is idle, and for how long it may be. Pure."""

from __future__ import annotations

from svc_jupyter.api.clusters import ClusterConfiguration

_HOUR = 3600.0
_LOOK_SECONDS = 15.0
_LOOKS_PER_LIMIT = 4


def idle_limit(configuration: ClusterConfiguration, default_seconds: float) -> float | None:
    """Return after how many seconds without work the cluster ends; None when it never does by itself."""
    if configuration.disallow_cluster_termination:
        return None
    hours = configuration.idle_cluster_timeout
    return default_seconds if hours is None else hours * _HOUR


def look_interval(limit: float) -> float:
    """Return how many seconds may pass between two looks at what a cluster does."""
    return min(_LOOK_SECONDS, limit / _LOOKS_PER_LIMIT)


def idle_reason(name: str, idle_seconds: float, limit: float) -> str | None:
    """Return why a cluster that has been idle for so long is terminated, None while it may go on."""
    if idle_seconds < limit:
        return None
    return f"cluster {name} was terminated: nothing ran on it for {_duration(idle_seconds)}"


def _duration(seconds: float) -> str:
    if seconds >= 2 * _HOUR:
        return f"{seconds / _HOUR:.0f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"
