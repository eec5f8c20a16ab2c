"""When a cluster is idle, and how long it may be. Pure."""

from __future__ import annotations

from svc_jupyter.api.clusters import ClusterConfiguration

_HOUR = 3600.0
_LOOK_SECONDS = 15.0
_LOOKS_PER_LIMIT = 4


def idle_limit(configuration: ClusterConfiguration, default_seconds: float) -> float | None:
    """Return after how many idle seconds the cluster is terminated; None for never."""
    if configuration.disallow_cluster_termination:
        return None
    hours = configuration.idle_cluster_timeout
    return default_seconds if hours is None else hours * _HOUR


def look_interval(limit: float) -> float:
    """Return the seconds between two checks of a cluster's work."""
    return min(_LOOK_SECONDS, limit / _LOOKS_PER_LIMIT)


def idle_reason(name: str, idle_seconds: float, limit: float) -> str | None:
    """Return why a cluster is terminated after this idle time; None while it may continue."""
    if idle_seconds < limit:
        return None
    return f"cluster {name} was terminated: nothing ran on it for {_duration(idle_seconds)}"


def _duration(seconds: float) -> str:
    if seconds >= 2 * _HOUR:
        return f"{seconds / _HOUR:.0f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"
