"""Names and paths of clusters, and when a wait for a state is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from svc_jupyter.api import paths
from svc_jupyter.api.clusters import ClusterStateRecord
from svc_jupyter.api.states import ClusterState
from svc_jupyter.client.errors import ClusterFailed

VERSION: Final = "v1.3"
NODES_VERSION: Final = "v2.2"
Reference = str | int
OnState = Callable[[ClusterStateRecord], None]
_STILL_COMING: Final = {
    ClusterState.UP: frozenset({ClusterState.PENDING}),
    ClusterState.DOWN: frozenset({ClusterState.TERMINATING, ClusterState.PENDING, ClusterState.UP}),
}
"""The states from which a cluster reaches the wanted state once the change is requested."""


def path_of(cluster: Reference, part: str = "", version: str = VERSION) -> str:
    """Return the path of a cluster, or of a part of it."""
    place = f"clusters/{quote(str(cluster), safe='')}"
    return paths.api(f"{place}/{part}" if part else place, version)


def is_reached(cluster: Reference, wanted: ClusterState, seen: ClusterStateRecord) -> bool:
    """Return whether the cluster is in the wanted state, UP or DOWN; raises ClusterFailed when it will not be."""
    if seen.state == wanted:
        return True
    if seen.state not in _STILL_COMING[wanted]:
        reason = f": {seen.terminate_reason}" if seen.terminate_reason else ""
        raise ClusterFailed(f"cluster {cluster} is {seen.state}, and does not come {wanted}{reason}")
    return False
