"""Decides which cluster a command needs, and starts that cluster.

A command whose engine runs on a cluster waits until the cluster is UP, and starts it when it is DOWN. Other commands
take no time here, but their label must exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.caller_reading import enabled_owners
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.listing import readable
from svc_jupyter.service.access.permissions import Decision, policy_decision
from svc_jupyter.service.access.policy_book import NO_POLICIES, entries_of
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.cluster_rows import (
    ClusterRow,
    cluster_by_id,
    cluster_row,
    find_labelled,
    labels_of,
    lock_cluster,
)
from svc_jupyter.service.clusters.life_cycle import Changes, LifeCycle
from svc_jupyter.service.commands.kind import BoundKind, ClusterKind, Kind
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_instances, cluster_labels, clusters

DEFAULT_LABEL = "default"
_LOOK_SECONDS = 1.0
_SHOWN_LABELS = 20
_OF_ACCOUNT = sa.select(clusters).where(clusters.c.account_id == sa.bindparam("account")).order_by(clusters.c.id)
_USED = sa.update(cluster_instances).where(cluster_instances.c.id == sa.bindparam("this_instance"))


class ClusterGate:
    """Connects commands with the clusters that they need."""

    def __init__(self, database: Database, bus: Bus, life_cycle: LifeCycle) -> None:
        self._database = database
        self._life_cycle = life_cycle
        self._changes = Changes(bus)

    async def cluster_for(
        self, kind: Kind, label: str | None, command: Mapping[str, Any], caller: Caller
    ) -> int | None:
        """Return the id of the cluster that must be UP for a command, None where none is needed.

        Raises `Invalid` for an unknown label or a cluster that cannot run the command, and `Forbidden` where the
        cluster's policy denies it.
        """
        if label is None and not isinstance(kind, ClusterKind):
            return None
        return await self._database.look_up(partial(self._checked, kind, label, command, caller))

    def place(self, connection: sa.Connection, kind: Kind, values: Mapping[str, Any]) -> int | None:
        """Like `cluster_for`, for a row that is not submitted by a caller now: its owner's rights apply.

        Where no cluster is needed, the label is no longer checked: the command can run. Call it in the transaction that
        creates the row. Raises `Invalid` with a message for the owner.
        """
        if not isinstance(kind, ClusterKind):
            return None
        cluster = self._chosen(connection, kind, values["label"], values["command"], values["account_id"], None)
        for whose, user_id in (("its owner", values["user_id"]), ("who changed it last", values["edited_by"])):
            decision = None if user_id is None else _owners_decision(connection, user_id, cluster.id)
            if decision is not None and not decision.allowed:
                raise Invalid(f"{whose} may not use cluster {cluster.name}: {decision.because}")
        return self._needed(kind, cluster, values["command"])

    def open_for(self, connection: sa.Connection, cluster_id: int, user_id: int) -> bool:
        """Return whether a user's command may begin now on a cluster; one that is DOWN is started.

        Call it in the transaction that creates the command. Raises `Invalid` when the cluster is deleted.
        """
        cluster = cluster_by_id(connection, cluster_id)
        if cluster is not None and cluster.state is ClusterState.DOWN:
            cluster = lock_cluster(connection, cluster_id)  # another transaction may have started it
        if cluster is None:
            raise Invalid(f"cluster {cluster_id} was deleted")
        if cluster.state is ClusterState.DOWN:
            self._life_cycle.start(connection, cluster)
            trail.record(
                connection, _user(connection, user_id), "start", Resource.CLUSTER, cluster_id, for_a_command=True
            )
            return False
        if cluster.state is not ClusterState.TERMINATING:
            now = self._life_cycle.clock()
            connection.execute(_USED, {"this_instance": cluster.instance_id, "last_used_at": now})
        return cluster.state is ClusterState.UP

    async def until_up(self, cluster_id: int, user_id: int, *, is_given_up: Callable[[], bool]) -> None:
        """Return once a cluster is UP; one that is DOWN is started for a user's command.

        Raises `ClusterFailure` when the start fails or is ended, and `CancelledError` once it `is_given_up`.
        """
        awaited: int | None = None
        while True:
            change = self._changes.next()
            cluster = await self._database.look_up(partial(cluster_by_id, cluster_id=cluster_id))
            if cluster is None:
                raise ClusterFailure(f"cluster {cluster_id} was deleted")
            if cluster.state is ClusterState.UP:
                return
            if is_given_up():
                raise asyncio.CancelledError
            if awaited is not None and (cluster.instance_id != awaited or cluster.state is not ClusterState.PENDING):
                raise ClusterFailure(await self._database.look_up(partial(_why_ended, instance_id=awaited)))
            if awaited is None and cluster.state is not ClusterState.TERMINATING:
                if await self._database.write(partial(self.open_for, cluster_id=cluster_id, user_id=user_id)):
                    return
                awaited = await self._database.look_up(partial(_instance_of, cluster_id=cluster_id))
                continue
            await change.within(_LOOK_SECONDS)

    def waits_for(self, connection: sa.Connection, cluster_id: int) -> str | None:
        """Return why a command waits for a cluster, as text for its record; None when the cluster is UP."""
        cluster = cluster_by_id(connection, cluster_id)
        if cluster is None or cluster.state is ClusterState.UP:
            return None
        if cluster.state is not ClusterState.PENDING:
            return f"waiting until cluster {cluster.name} has ended; then it is started again"
        row = connection.execute(
            sa.select(cluster_instances.c.start_at, cluster_instances.c.message).where(
                cluster_instances.c.id == cluster.instance_id
            )
        ).one()
        seconds = max(0, round(self._life_cycle.clock() - row.start_at))
        return f"starting cluster {cluster.name} ({seconds} s)" + (f": {row.message}" if row.message else "")

    def _checked(
        self, kind: Kind, label: str | None, command: Mapping[str, Any], caller: Caller, connection: sa.Connection
    ) -> int | None:
        cluster = self._chosen(connection, kind, label, command, caller.account_id, caller)
        decision = None if caller.is_admin else policy_decision(caller, Action.READ, Resource.CLUSTER, cluster.id)
        if decision is not None and not decision.allowed:
            raise Forbidden(f"{decision.because} (permission to {Action.READ} {Resource.CLUSTER} {cluster.id})")
        return self._needed(kind, cluster, command)

    def _chosen(
        self,
        connection: sa.Connection,
        kind: Kind,
        label: str | None,
        command: Mapping[str, Any],
        account_id: int,
        caller: Caller | None,
    ) -> ClusterRow:
        """Return the cluster with a label; without a label the command's own, the default, or the only suitable one."""
        bound = kind.bound_cluster(command) if label is None and isinstance(kind, BoundKind) else None
        if bound is not None:
            return _bound_one(connection, bound, account_id)
        if label is None and isinstance(kind, ClusterKind) and ClusterType.HADOOP not in kind.cluster_types:
            return _only_one(connection, kind, account_id)
        cluster = find_labelled(connection, account_id, label or DEFAULT_LABEL)
        if cluster is None:
            there = _labels_for(connection, account_id, caller)
            message = f"no cluster has the label {(label or DEFAULT_LABEL)[:100]!r}{there}"
            raise Invalid(message, {"label": message})
        return cluster

    def _needed(self, kind: Kind, cluster: ClusterRow, command: Mapping[str, Any]) -> int | None:
        if not isinstance(kind, ClusterKind):
            return None
        if cluster.type not in kind.cluster_types:
            types = " or ".join(sorted(item.words for item in kind.cluster_types))
            message = f"cluster {cluster.name} runs {cluster.type.words}; this needs {types}"
            raise Invalid(message, {"label": message})
        if not kind.needs_cluster(command, cluster.configuration):
            return None
        self._life_cycle.check_startable(cluster)
        return cluster.id


def _bound_one(connection: sa.Connection, cluster_id: int, account_id: int) -> ClusterRow:
    cluster = cluster_by_id(connection, cluster_id)
    if cluster is None or cluster.account_id != account_id:
        raise Invalid(f"it is bound to cluster {cluster_id}, which is no longer there; give a label, or bind another")
    return cluster


def _only_one(connection: sa.Connection, kind: ClusterKind, account_id: int) -> ClusterRow:
    found = [cluster_row(row, ()) for row in connection.execute(_OF_ACCOUNT, {"account": account_id}).mappings()]
    fitting = [cluster for cluster in found if cluster.type in kind.cluster_types]
    types = " or ".join(sorted(item.words for item in kind.cluster_types))
    if not fitting:
        raise Invalid(f"label: there is no {types} cluster")
    if len(fitting) > 1:
        raise Invalid(f"label: there are {len(fitting)} {types} clusters; say which one by its label")
    return replace(fitting[0], labels=labels_of(connection, fitting[0].id))


def _labels_for(connection: sa.Connection, account_id: int, caller: Caller | None) -> str:
    """Return the labels of the clusters that the caller may read, as the end of a sentence."""
    query = sa.select(cluster_labels.c.label).where(cluster_labels.c.account_id == account_id)
    if caller is not None:
        try:
            query = query.where(readable(caller, Resource.CLUSTER, cluster_labels.c.cluster_id))
        except Forbidden:
            return ""
    names = list(connection.execute(query.order_by(cluster_labels.c.label).limit(_SHOWN_LABELS + 1)).scalars())
    more = ", …" if len(names) > _SHOWN_LABELS else ""
    return f"; there are: {', '.join(names[:_SHOWN_LABELS])}{more}" if names else "; no cluster has a label"


def _owners_decision(connection: sa.Connection, user_id: int, cluster_id: int) -> Decision | None:
    """Return the decision of a cluster's policy about a command's user; None where the policy has none."""
    row = policy_versions.in_force(connection, SourceType.CLUSTER, cluster_id)
    owner = None if row is None or not row.policy else enabled_owners(connection, {user_id}).get(user_id)
    if owner is None or owner.is_admin:
        return None
    assert row is not None
    book = NO_POLICIES.with_changes(1, {(Resource.CLUSTER, cluster_id): entries_of(row.policy)})
    return policy_decision(replace(owner, policies=book), Action.READ, Resource.CLUSTER, cluster_id)


def _user(connection: sa.Connection, user_id: int) -> Caller:
    """Return a user as a caller, for work in the user's name without a call."""
    row = connection.execute(sa.select(users.c.account_id, users.c.email).where(users.c.id == user_id)).one()
    return Caller(user_id, row.account_id, row.email, frozenset(), token_id=0)


def _instance_of(connection: sa.Connection, cluster_id: int) -> int | None:
    return connection.execute(sa.select(clusters.c.instance_id).where(clusters.c.id == cluster_id)).scalar_one_or_none()


def _why_ended(connection: sa.Connection, instance_id: int) -> str:
    query = sa.select(cluster_instances.c.terminate_reason).where(cluster_instances.c.id == instance_id)
    return connection.execute(query).scalar_one_or_none() or "the cluster was terminated"
