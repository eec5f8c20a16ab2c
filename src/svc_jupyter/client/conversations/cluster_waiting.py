"""Wait for a cluster's state, across restarts of the service: one conversation for both clients."""

from __future__ import annotations

import time
from collections.abc import Callable

from svc_jupyter.api.clusters import ClusterStateRecord
from svc_jupyter.api.states import ClusterState
from svc_jupyter.client.commands.waiting import Outage
from svc_jupyter.client.errors import ClusterFailed, ConnectionFailed, StatusError, WaitTimeout
from svc_jupyter.client.transport.calls import Flow, Pause
from svc_jupyter.client.transport.retries import Retries

LOOK_SECONDS = 0.5
_STILL_COMING = {
    ClusterState.UP: frozenset({ClusterState.PENDING}),
    ClusterState.DOWN: frozenset({ClusterState.TERMINATING, ClusterState.PENDING, ClusterState.UP}),
}
"""The states from which a cluster reaches the wanted state once the change is requested."""


def until_state(
    look: Callable[[], Flow[ClusterStateRecord]],
    retries: Retries,
    name: str,
    wanted: str,
    timeout: float | None,
    on_state: Callable[[ClusterStateRecord], None] | None,
    clock: Callable[[], float] = time.monotonic,
) -> Flow[ClusterStateRecord]:
    """Poll until the cluster is in the wanted state, UP or DOWN. Raises ClusterFailed and WaitTimeout."""
    coming = _STILL_COMING[ClusterState(wanted)]
    started = clock()
    outage = Outage(retries, clock)
    while True:
        pause = LOOK_SECONDS
        try:
            record = yield from look()
        except (ConnectionFailed, StatusError) as error:
            pause = outage.pause(error)
        else:
            outage.over()
            if on_state is not None:
                on_state(record)
            if record.state == wanted:
                return record
            if record.state not in coming:
                reason = f": {record.terminate_reason}" if record.terminate_reason else ""
                raise ClusterFailed(f"cluster {name} is {record.state}, and does not come {wanted}{reason}")
        if timeout is not None and clock() - started >= timeout:
            raise WaitTimeout(f"cluster {name} is not {wanted} after {timeout:g} s; it goes on")
        yield Pause(pause)
