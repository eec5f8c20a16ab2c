"""The rules of an account: kept, changed, and tried without deleting anything."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

import sqlalchemy as sa

from svc_jupyter.api.access import Resource
from svc_jupyter.api.retention import Prunable, PrunePlan, RetentionRule, RetentionRules
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.retention.rules import limits_of, read_rules
from svc_jupyter.service.schema.retention import command_files, retention

RULES = "retention"
"""The bus topic that announces new rules."""


class Retention:
    """The rules for keeping files of ended commands."""

    def __init__(self, database: Database, bus: Bus, kinds: Mapping[str, Kind]) -> None:
        self._database = database
        self._bus = bus
        self._kinds = kinds

    async def rules(self, caller: Caller) -> RetentionRules:
        """Return the rules in force."""
        found = await self._database.look_up(partial(read_rules, account_id=caller.account_id))
        return RetentionRules(rules=found)

    async def set_rules(self, new: RetentionRules, caller: Caller) -> RetentionRules:
        """Replace the rules; the loop begins with the new ones at once. Raises `Invalid`."""
        self._check(new.rules)
        await self._database.write(partial(self._store, new, caller))
        return new

    async def plan(self, rules: Sequence[RetentionRule] | None, caller: Caller) -> PrunePlan:
        """Return what rules would delete now, those in force by default. Raises `Invalid`."""
        if rules is not None:
            self._check(rules)
        return await self._database.read(partial(_plan, rules, caller.account_id))

    def _check(self, rules: Sequence[RetentionRule]) -> None:
        for number, rule in enumerate(rules):
            if rule.command_type is not None and rule.command_type not in self._kinds:
                raise Invalid(
                    f"rules.{number}.command_type: {rule.command_type!r} is unknown; it must be one of "
                    f"{', '.join(sorted(self._kinds))}"
                )

    def _store(self, new: RetentionRules, caller: Caller, connection: sa.Connection) -> None:
        rules = [rule.model_dump(mode="json", exclude_none=True) for rule in new.rules]
        row = conflict_insert(connection, retention).values(account_id=caller.account_id, rules=rules)
        connection.execute(
            row.on_conflict_do_update(index_elements=[retention.c.account_id], set_={"rules": row.excluded.rules})
        )
        trail.record(connection, caller, "update", Resource.ACCOUNT, caller.account_id, retention=rules)
        self._bus.publish(connection, RULES, str(caller.account_id))


def _plan(rules: Sequence[RetentionRule] | None, account_id: int, connection: sa.Connection) -> PrunePlan:
    rules = read_rules(connection, account_id) if rules is None else rules
    found = []
    for limit in limits_of(rules, account_id, time.time()):
        beyond = limit.beyond.c
        total = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(beyond.size), 0)).select_from(limit.beyond)
        number, size = connection.execute(total).one()
        found.append(Prunable(rule=limit.text, commands=number, bytes=int(size)))
    unmeasured = sa.select(sa.func.count()).where(
        command_files.c.result_bytes.is_(None), command_files.c.ended_at.is_not(None)
    )
    return PrunePlan(
        prunable=found,
        bytes=sum(one.bytes for one in found),
        unmeasured=connection.execute(unmeasured).scalar_one(),
    )
