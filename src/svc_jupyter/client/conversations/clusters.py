"""Clusters: configuration, state, health, nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
from svc_jupyter.api.clusters import ClusterList, ClusterMessage, ClusterRecord, ClusterStateRecord
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.states import ClusterState
from svc_jupyter.client.commands.waiting import Outage
from svc_jupyter.client.errors import ClusterFailed, ConnectionFailed, StatusError, WaitTimeout
from svc_jupyter.client.transport.calls import Call, Flow, Pause, answer_if_known, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.retries import Retries
from svc_jupyter.client.transport.wire import idempotency

_VERSION = "v1.3"
_NODES_VERSION = "v2.2"
_RESOURCE = paths.api("clusters", _VERSION)
Reference = str | int
OnState = Callable[[ClusterStateRecord], None]


class ClusterFlows:
    """Requests about clusters, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int, state: str | None, label: str | None) -> Flow[ClusterList]:
        params = {"page": page, "per_page": per_page, "state": state, "label": label}
        return fetch(self.link, Call("GET", _RESOURCE, params), ClusterList)

    def get(self, cluster: Reference) -> Flow[ClusterRecord]:
        return fetch(self.link, Call("GET", _path(cluster)), ClusterRecord)

    def create(self, configuration: Mapping[str, Any]) -> Flow[ClusterRecord]:
        call = Call("POST", _RESOURCE, body=dict(configuration), headers=idempotency(str(uuid4())))
        return fetch(self.link, call, ClusterRecord)

    def update(self, cluster: Reference, changes: Mapping[str, Any]) -> Flow[ClusterRecord]:
        return fetch(self.link, Call("PUT", _path(cluster), body=dict(changes)), ClusterRecord)

    def clone(self, cluster: Reference, changes: Mapping[str, Any]) -> Flow[ClusterRecord]:
        call = Call("POST", _path(cluster, "clone"), body=dict(changes), headers=idempotency(str(uuid4())))
        return fetch(self.link, call, ClusterRecord)

    def delete(self, cluster: Reference) -> Flow[ClusterMessage]:
        return fetch(self.link, Call("DELETE", _path(cluster)), ClusterMessage)

    def reassign_label(self, label: str, cluster: Reference) -> Flow[ClusterMessage]:
        body = {"destination_cluster": cluster, "label": label}
        return fetch(self.link, Call("PUT", f"{_RESOURCE}/reassign-label", body=body), ClusterMessage)

    def state(self, cluster: Reference) -> Flow[ClusterStateRecord]:
        """Fetch the state; a service without the extension has it in the configuration, without nodes."""
        call = Call("GET", _path(cluster, "state"))
        state = yield from answer_if_known(fetch(self.link, call, ClusterStateRecord))
        if state is not None:
            return state
        record = yield from self.get(cluster)
        return ClusterStateRecord(state=record.state, cluster_id=record.id, config_id=record.id)

    def change_state(self, cluster: Reference, wanted: str) -> Flow[ClusterMessage]:
        return fetch(self.link, Call("PUT", _path(cluster, "state"), body={"state": wanted}), ClusterMessage)

    def until(
        self, cluster: Reference, state: str, timeout: float | None, on_state: OnState | None
    ) -> Flow[ClusterStateRecord]:
        return until_state(lambda: self.state(cluster), self.link.retries, str(cluster), state, timeout, on_state)

    def health(self, cluster: Reference) -> Flow[ClusterHealth]:
        return fetch(self.link, Call("GET", _path(cluster, "live_cluster_health")), ClusterHealth)

    def metrics(
        self, cluster: Reference, names: tuple[str, ...] | None, interval: str | int
    ) -> Flow[ClusterMetrics | None]:
        call = Call("GET", _path(cluster, "metrics"), {"metric": ",".join(names or ()) or None, "interval": interval})
        return answer_if_known(fetch(self.link, call, ClusterMetrics))

    def add_nodes(self, cluster: Reference, count: int) -> Flow[CommandRecord]:
        path = _path(cluster, "nodes", _NODES_VERSION)
        call = Call("POST", path, body={"node_count": count}, headers=idempotency(str(uuid4())))
        return self.link.learn_from((yield from fetch(self.link, call, CommandRecord)))

    def remove_node(self, cluster: Reference, private_dns: str | None) -> Flow[CommandRecord]:
        call = Call("DELETE", _path(cluster, "nodes", _NODES_VERSION), {"private_dns": private_dns})
        return self.link.learn_from((yield from fetch(self.link, call, CommandRecord)))


def _path(cluster: Reference, part: str = "", version: str = _VERSION) -> str:
    place = f"clusters/{quote(str(cluster), safe='')}"
    return paths.api(f"{place}/{part}" if part else place, version)


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
