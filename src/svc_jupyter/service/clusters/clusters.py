"""The rules of clusters: configuration, labels, state."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa
from pydantic import ValidationError

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.cluster_texts import is_label
from svc_jupyter.api.clusters import ClusterChanges, ClusterConfiguration, LabelMove
from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.accounts import lock_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.listing import readable
from svc_jupyter.service.access.permissions import decision, require, require_to_write_code
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.cluster_rows import (
    ClusterRow,
    changed_fields,
    check_destination,
    cluster_record,
    cluster_row,
    find_cluster,
    labels_of,
    lock_cluster,
    merged,
    move_label,
    set_labels,
    take_secrets,
    to_json,
)
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL, ClusterGate
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.life_cycle import LifeCycle, state_record
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.http.validation import explain, fields
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_labels, clusters

Record = dict[str, Any]
Result = TypeVar("Result")
_EMAIL = sa.select(users.c.email).where(users.c.id == sa.bindparam("user"))
_DOINGS = {"start": "Starting", "terminate": "Terminating"}


class Clusters:
    """All calls about clusters. Records are dictionaries in the shape of `ClusterRecord`.

    A reference to a cluster is its id or any of its labels.
    """

    def __init__(
        self,
        database: Database,
        secrets: SecretBox,
        instances: Instances,
        life_cycle: LifeCycle,
        gate: ClusterGate,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._instances = instances
        self._life_cycle = life_cycle
        self.gate = gate

    # For other parts of the service

    async def resolve(self, account_id: int, label_or_id: str | int) -> ClusterRow:
        """Return the account's cluster with a label or id. Raises `NotFound`."""
        found = await self._database.look_up(partial(find_cluster, account_id=account_id, label_or_id=label_or_id))
        if found is None:
            raise _not_found(label_or_id)
        return found

    async def resolve_for(self, caller: Caller, action: Action, label_or_id: str | int) -> ClusterRow:
        """Like `resolve`, for a caller who needs the right to `action`. Also raises `Forbidden`."""
        return await self._database.look_up(partial(_admitted, caller, action, label_or_id))

    async def up_instance(self, cluster_id: int | None) -> Instance:
        """Return the running instance of a command's cluster. Raises `ClusterFailure` when it is not UP."""
        assert cluster_id is not None  # the gate has chosen one
        instance = await self._instances.of_cluster(cluster_id)
        if instance is None or instance.state is not ClusterState.UP:
            state = "DOWN" if instance is None else instance.state.value
            raise ClusterFailure(f"cluster {cluster_id} is not UP ({state})")
        return instance

    async def email_of(self, user_id: int) -> str:
        """Return the e-mail of a user, which external clusters get as the name."""
        return str(
            await self._database.look_up(lambda connection: connection.execute(_EMAIL, {"user": user_id}).scalar_one())
        )

    async def are_active(self) -> bool:
        """Return whether any cluster is not DOWN, so that the embedded service must keep running."""
        active = sa.select(sa.exists().where(clusters.c.state != ClusterState.DOWN.value))
        return bool(await self._database.read(lambda connection: connection.execute(active).scalar()))

    # Configurations

    async def listed(
        self, caller: Caller, page: Page, *, state: ClusterState | None, label: str | None
    ) -> tuple[list[Record], PagingInfo]:
        """Return a page of the clusters that the caller may read, newest first, and its position."""
        wanted = [clusters.c.account_id == caller.account_id, readable(caller, Resource.CLUSTER, clusters.c.id)]
        if state is not None:
            wanted.append(clusters.c.state == state.value)
        if label is not None and not is_label(label):
            return [], page.info(has_more=False)
        if label is not None:
            labelled = sa.select(cluster_labels.c.cluster_id).where(
                cluster_labels.c.account_id == caller.account_id, cluster_labels.c.label == label
            )
            wanted.append(clusters.c.id.in_(labelled))
        query = sa.select(clusters).where(*wanted).order_by(clusters.c.id.desc())
        found = await self._database.read(partial(_rows, query.limit(page.fetch).offset(page.offset)))
        shown, info = page.cut(found)
        return [self._record(cluster) for cluster in shown], info

    async def get(self, reference: str, *, by: Caller) -> Record:
        """Return the record of a cluster. Raises `NotFound`, `Forbidden`."""
        return self._record(await self.resolve_for(by, Action.READ, reference))

    async def create(self, body: ClusterConfiguration, *, by: Caller) -> Record:
        """Store a new cluster, in state DOWN; return its record. Raises `Invalid`, `Forbidden`."""
        require(by, Action.CREATE, Resource.CLUSTER)
        require_for_code(by, body)
        configuration = body.model_copy(deep=True)
        sealed = self._sealed(configuration, body, None)
        self._life_cycle.check(configuration)
        return await self._database.write(partial(self._insert, configuration, sealed, by, "create"))

    async def clone(self, reference: str, body: ClusterChanges, *, by: Caller) -> Record:
        """Store a copy of a cluster with the body's labels and changes; return its record.

        The copy also gets the cluster's secrets. Raises `NotFound`, `Invalid`, `Forbidden`.
        """
        source = await self.resolve_for(by, Action.CLONE, reference)
        require(by, Action.CREATE, Resource.CLUSTER)
        require_for_code(by, body, source.configuration)
        if not body.label:
            raise Invalid("label: give the clone a label of its own")
        configuration = _validated(merged(source.configuration, body))
        check_destination(source.configuration, configuration, body)
        sealed = self._sealed(configuration, body, source.sealed_secrets)
        self._life_cycle.check(configuration)
        work = partial(self._insert, configuration, sealed, by, "clone", cloned_from=source.id)
        return await self._database.write(work)

    async def edit(self, reference: str, body: ClusterChanges, *, by: Caller) -> Record:
        """Change the given attributes; return the record. Raises `NotFound`, `Invalid`, `Forbidden`.

        For a cluster that is not DOWN, most changes take effect at its next start; labels, `idle_cluster_timeout` and
        `disallow_cluster_termination` take effect at once.
        """
        found = await self.resolve_for(by, Action.UPDATE, reference)
        return await self._database.write(partial(self._update, found.id, body, by))

    async def delete(self, reference: str, *, by: Caller) -> str:
        """Delete a cluster that is DOWN, with all its data in the service; return a sentence that says so.

        Raises `NotFound`, `Forbidden`, and `StateConflict` for one that is not DOWN.
        """
        found = await self.resolve_for(by, Action.DELETE, reference)
        text = await self._database.write(partial(self._delete, found.id, by))
        await self._instances.forget_folders(found.id)
        return text

    async def reassign_label(self, body: LabelMove, *, by: Caller) -> str:
        """Move a label to a cluster; return a sentence that says so.

        The caller needs the right to update both clusters. Raises `NotFound`, `Forbidden`.
        """
        return await self._database.write(partial(self._reassign, body, by))

    # State

    async def change_state(self, reference: str, wanted: str, *, by: Caller) -> str:
        """Begin to `start` or `terminate` a cluster; return a sentence that says so.

        Raises `NotFound`, `Forbidden`, `Invalid` for a type that cannot be started, and `StateConflict`.
        """
        found = await self.resolve_for(by, Action(wanted), reference)
        await self._database.write(partial(self._change_state, found.id, wanted, by))
        return f"{_DOINGS[wanted]} cluster with id {found.id}."

    async def state(self, reference: str, *, by: Caller) -> Record:
        """Return a cluster's state and nodes, as `ClusterStateRecord`. Raises `NotFound`, `Forbidden`."""
        found = await self.resolve_for(by, Action.READ, reference)
        return await self._database.look_up(partial(state_record, found, self._instances))

    def _insert(
        self,
        configuration: ClusterConfiguration,
        sealed: str | None,
        by: Caller,
        action: str,
        connection: sa.Connection,
        **detail: Any,
    ) -> Record:
        lock_account(connection, by.account_id)
        values = {
            "account_id": by.account_id,
            "user_id": by.user_id,
            "created_at": self._life_cycle.clock(),
            "configuration": to_json(configuration),
            "secrets": sealed,
            "state": ClusterState.DOWN.value,
        }
        row = connection.execute(sa.insert(clusters).values(values).returning(clusters)).mappings().one()
        set_labels(connection, by.account_id, row["id"], configuration.label)
        trail.record(connection, by, action, Resource.CLUSTER, row["id"], label=configuration.label, **detail)
        return self._record(cluster_row(row, tuple(configuration.label)))

    def _update(self, cluster_id: int, body: ClusterChanges, by: Caller, connection: sa.Connection) -> Record:
        lock_account(connection, by.account_id)
        before = _still_there(connection, cluster_id)
        require_for_code(by, body, before.configuration)
        after = _validated(merged(before.configuration, body))
        check_destination(before.configuration, after, body)
        sealed = self._sealed(after, body, before.sealed_secrets)
        self._life_cycle.check(after)
        is_other = (after.cluster_type, after.is_external) != (before.type, before.configuration.is_external)
        if is_other and before.state is not ClusterState.DOWN:
            raise StateConflict(f"cluster {before.name} is {before.state}: what it runs can be changed once it is DOWN")
        changed = sa.update(clusters).where(clusters.c.id == cluster_id).returning(clusters)
        row = connection.execute(changed.values(configuration=to_json(after), secrets=sealed)).mappings().one()
        set_labels(connection, by.account_id, cluster_id, after.label)
        trail.record(connection, by, "update", Resource.CLUSTER, cluster_id, changed=changed_fields(body))
        return self._record(cluster_row(row, tuple(after.label)))

    def _delete(self, cluster_id: int, by: Caller, connection: sa.Connection) -> str:
        cluster = _still_there(connection, cluster_id)
        if cluster.state is not ClusterState.DOWN:
            raise StateConflict(f"cluster {cluster.name} is {cluster.state}; terminate it, then delete it")
        policy_versions.forget(connection, SourceType.CLUSTER, [cluster_id])
        connection.execute(sa.delete(clusters).where(clusters.c.id == cluster_id))
        trail.record(connection, by, "delete", Resource.CLUSTER, cluster_id, label=list(cluster.labels))
        text = f"Deleted cluster with id {cluster_id}."
        if DEFAULT_LABEL in cluster.labels:
            text += f" No cluster has the label {DEFAULT_LABEL!r} now: commands that need a cluster must name theirs."
        return text

    def _reassign(self, body: LabelMove, by: Caller, connection: sa.Connection) -> str:
        lock_account(connection, by.account_id)
        destination = _admitted(by, Action.UPDATE, body.destination_cluster, connection)
        owner = find_cluster(connection, by.account_id, body.label)
        if owner is not None:
            require(by, Action.UPDATE, Resource.CLUSTER, owner.id)
        if owner is None or owner.id != destination.id:
            move_label(connection, by.account_id, body.label, destination.id)
            source = None if owner is None else owner.id
            trail.record(
                connection, by, "reassign_label", Resource.CLUSTER, destination.id, label=body.label, source=source
            )
        return f"Label {body.label} belongs to cluster with id {destination.id}."

    def _change_state(self, cluster_id: int, wanted: str, by: Caller, connection: sa.Connection) -> None:
        cluster = _still_there(connection, cluster_id)
        if wanted == "start":
            if cluster.state is ClusterState.TERMINATING:
                raise StateConflict(f"cluster {cluster.name} is {cluster.state}; start it once it is DOWN")
            if cluster.state is not ClusterState.DOWN:
                raise StateConflict(f"cluster {cluster.name} is already {cluster.state}")
            self._life_cycle.start(connection, cluster)
        else:
            if cluster.state not in (ClusterState.PENDING, ClusterState.UP):
                raise StateConflict(f"cluster {cluster.name} is already {cluster.state}")
            self._life_cycle.terminate(connection, cluster, f"cluster {cluster.name} was terminated by {by.email}")
        trail.record(connection, by, wanted, Resource.CLUSTER, cluster_id, label=list(cluster.labels))

    def _record(self, cluster: ClusterRow) -> Record:
        return cluster_record(cluster, provider=self._life_cycle.provider_of(cluster.configuration))

    def _sealed(self, configuration: ClusterConfiguration, given: ClusterChanges, sealed: str | None) -> str | None:
        try:
            return take_secrets(self._secrets, configuration, given, sealed)
        except ValueError as error:
            raise Invalid(str(error)) from None


def _admitted(caller: Caller, action: Action, reference: str | int, connection: sa.Connection) -> ClusterRow:
    cluster = find_cluster(connection, caller.account_id, reference)
    found = decision(caller, action, Resource.CLUSTER, None if cluster is None else cluster.id)
    if not found.allowed:  # the same message as for an unknown cluster
        raise Forbidden(f"{found.because} (permission to {action} {Resource.CLUSTER} {str(reference)[:100]})")
    if cluster is None:
        raise _not_found(reference)
    return cluster


def _still_there(connection: sa.Connection, cluster_id: int) -> ClusterRow:
    cluster = lock_cluster(connection, cluster_id)
    if cluster is None:
        raise _not_found(cluster_id)
    return cluster


def _not_found(reference: str | int) -> NotFound:
    return NotFound(f"there is no cluster {str(reference)[:100]}")


def _validated(body: Mapping[str, Any]) -> ClusterConfiguration:
    try:
        return ClusterConfiguration.model_validate(body)
    except ValidationError as error:
        raise Invalid(explain(error), fields(error)) from None


def _rows(query: sa.Select[Any], connection: sa.Connection) -> list[ClusterRow]:
    rows = connection.execute(query).mappings().all()
    return [cluster_row(row, labels_of(connection, row["id"])) for row in rows]


def require_for_code(by: Caller, given: ClusterChanges, before: ClusterChanges | None = None) -> None:
    """Raise `Forbidden` unless the caller may submit commands or leaves the cluster's code unchanged.

    A bootstrap script runs on every node. Lines of `custom_config` name programs that the daemons start, and Java
    options of daemons and jobs. All of this runs like a shell command, also when another user starts the cluster.
    """
    had = {} if before is None else _code(before)
    for field, text in _code(given).items():
        if text and text != had.get(field):
            require_to_write_code(by, field)


def _code(body: ClusterChanges) -> dict[str, str | None]:
    return {
        "node_bootstrap_file": body.node_bootstrap_file,
        "hadoop_settings.custom_config": body.hadoop_settings.custom_config,
        "presto_settings.custom_config": body.presto_settings.custom_config,
    }
