"""Clusters: configuration, state, health, nodes."""
# Made from asynchronous/clusters.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
from svc_jupyter.api.clusters import ClusterList, ClusterMessage, ClusterRecord, ClusterStateRecord
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.states import ClusterState
from svc_jupyter.client.blocking.handles import Command
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.commands.waiting import Outage
from svc_jupyter.client.errors import ConnectionFailed, StatusError, WaitTimeout
from svc_jupyter.client.requests.clusters import NODES_VERSION, VERSION, OnState, Reference, is_reached, path_of
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("clusters", VERSION)
_LOOK_SECONDS = 0.5


class Clusters:
    """Clusters, as `client.clusters`; a cluster is named by its id or one of its labels."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(
        self, *, page: int = 1, per_page: int = 10, state: str | None = None, label: str | None = None
    ) -> ClusterList:
        """Return one page of the clusters that you may read, newest first."""
        params = {"page": page, "per_page": per_page, "state": state, "label": label}
        return self._sender.fetch(Call("GET", _RESOURCE, params), ClusterList)

    def iter(self, *, state: str | None = None) -> Iterator[ClusterRecord]:
        """Yield all clusters that you may read, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE, state=state),
            lambda found: (found.clusters, found.paging_info),
        )

    def get(self, cluster: Reference) -> ClusterRecord:
        """Return a cluster's configuration and state; secrets are `<hidden>`. Raises NotFound for an unknown one."""
        return self._sender.fetch(Call("GET", path_of(cluster)), ClusterRecord)

    def create(self, **configuration: Any) -> ClusterRecord:
        """Create a cluster, initially DOWN: `create(label=["etl"], node_configuration={"initial_nodes": 2})`."""
        return self._sender.fetch(Call("POST", _RESOURCE, body=configuration, headers=idempotency()), ClusterRecord)

    def update(self, cluster: Reference, **changes: Any) -> ClusterRecord:
        """Change the given attributes; most of them apply to a running cluster at its next start."""
        return self._sender.fetch(Call("PUT", path_of(cluster), body=changes), ClusterRecord)

    def clone(self, cluster: Reference, label: str, **changes: Any) -> ClusterRecord:
        """Create a copy of a cluster with a new label and the given changes."""
        body = {**changes, "label": [label]}
        call = Call("POST", path_of(cluster, "clone"), body=body, headers=idempotency())
        return self._sender.fetch(call, ClusterRecord)

    def delete(self, cluster: Reference) -> ClusterMessage:
        """Delete a cluster that is DOWN; Conflict for any other."""
        return self._sender.fetch(Call("DELETE", path_of(cluster)), ClusterMessage)

    def reassign_label(self, label: str, cluster: Reference) -> ClusterMessage:
        """Move a label to a cluster from the one that had it."""
        body = {"destination_cluster": cluster, "label": label}
        return self._sender.fetch(Call("PUT", f"{_RESOURCE}/reassign-label", body=body), ClusterMessage)

    def state(self, cluster: Reference) -> ClusterStateRecord:
        """Return a cluster's state and its nodes.

        A service without the extension has the state in the configuration, without nodes.
        """
        state = self._sender.fetch_if_known(Call("GET", path_of(cluster, "state")), ClusterStateRecord)
        if state is not None:
            return state
        record = self.get(cluster)
        return ClusterStateRecord(state=record.state, cluster_id=record.id, config_id=record.id)

    def start(self, cluster: Reference) -> ClusterMessage:
        """Begin to start a cluster that is DOWN; `wait` returns when it is UP. Raises Conflict in any other state."""
        return self._change_state(cluster, "start")

    def terminate(self, cluster: Reference) -> ClusterMessage:
        """Begin to terminate a cluster and what runs on it; `wait(cluster, "DOWN")` returns when it has ended."""
        return self._change_state(cluster, "terminate")

    def wait(
        self,
        cluster: Reference,
        state: str = "UP",
        timeout: float | None = None,
        on_state: OnState | None = None,
    ) -> ClusterStateRecord:
        """Wait until a cluster is UP or DOWN, without a limit by default; `on_state` is called at each check.

        Raises ClusterFailed when it will not reach that state, WaitTimeout after `timeout` seconds.
        """
        wanted = ClusterState(state)
        started = time.monotonic()
        outage = Outage(self._sender.link.retries)
        while True:
            pause = _LOOK_SECONDS
            try:
                record = self.state(cluster)
            except (ConnectionFailed, StatusError) as error:
                pause = outage.pause(error)
            else:
                outage.over()
                if on_state is not None:
                    on_state(record)
                if is_reached(cluster, wanted, record):
                    return record
            if timeout is not None and time.monotonic() - started >= timeout:
                raise WaitTimeout(f"cluster {cluster} is not {wanted} after {timeout:g} s; it goes on")
            time.sleep(pause)

    def health(self, cluster: Reference) -> ClusterHealth:
        """Return the live health of a cluster that is UP; raises Conflict for any other."""
        return self._sender.fetch(Call("GET", path_of(cluster, "live_cluster_health")), ClusterHealth)

    def metrics(self, cluster: Reference, *names: str, interval: str | int = "hour") -> ClusterMetrics | None:
        """Return samples of a running cluster's health, over `minute`, `hour`, `day` or a number of seconds.

        Returns None when the service keeps none. Without names, returns all metrics.
        """
        params = {"metric": ",".join(names) or None, "interval": interval}
        return self._sender.fetch_if_known(Call("GET", path_of(cluster, "metrics"), params), ClusterMetrics)

    def add_nodes(self, cluster: Reference, count: int = 1) -> Command:
        """Begin to add workers to a running cluster; the command reports progress. `max_nodes` is not a limit."""
        path = path_of(cluster, "nodes", NODES_VERSION)
        return self._command(Call("POST", path, body={"node_count": count}, headers=idempotency()))

    def remove_node(self, cluster: Reference, private_dns: str | None = None) -> Command:
        """Begin to remove a worker gracefully, by default the least busy; the returned command reports progress."""
        path = path_of(cluster, "nodes", NODES_VERSION)
        return self._command(Call("DELETE", path, {"private_dns": private_dns}))

    def _change_state(self, cluster: Reference, wanted: str) -> ClusterMessage:
        return self._sender.fetch(Call("PUT", path_of(cluster, "state"), body={"state": wanted}), ClusterMessage)

    def _command(self, call: Call) -> Command:
        record = self._sender.fetch(call, CommandRecord)
        return Command(self._sender, self._sender.link.learn_from(record))
