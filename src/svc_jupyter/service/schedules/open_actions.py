"""The open actions of a schedule, which have not ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from svc_jupyter.api.states import ActionStatus
from svc_jupyter.service.schedules.rows import Row
from svc_jupyter.service.schema.schedules import actions

BACKLOG_LIMIT = 12
"""Actions of a schedule that may wait at once; materialisation continues once some have begun."""
RERUN_LIMIT = 20
"""Reruns of a schedule that run at once."""
_COLUMNS = (
    actions.c.id,
    actions.c.schedule_id,
    actions.c.sequence_id,
    actions.c.nominal_time,
    actions.c.rerun_number,
    actions.c.status,
    actions.c.command_id,
)
_OPEN = sa.select(*_COLUMNS).where(
    sa.not_(actions.c.done), actions.c.schedule_id.in_(sa.bindparam("schedules", expanding=True))
)


@dataclass(frozen=True, slots=True)
class OpenActions:
    """The actions of one schedule that are not done, oldest first."""

    rows: Sequence[Row] = ()

    @property
    def backlog(self) -> int:
        """How many have no command yet, without reruns, which were requested individually."""
        return sum(1 for row in self.rows if row["command_id"] is None and not row["rerun_number"])

    @property
    def ready(self) -> list[Row]:
        """The actions that only wait for a slot."""
        return [row for row in self.rows if row["command_id"] is None and row["status"] == ActionStatus.SUBMITTED]

    def may_begin(self, concurrency: int) -> list[Row]:
        """Return the ready actions for which there is a slot, in their order."""
        first = [row for row in self.ready if not row["rerun_number"]]
        again = [row for row in self.ready if row["rerun_number"]]
        return [
            *first[: max(0, concurrency - self._running(is_rerun=False))],
            *again[: max(0, RERUN_LIMIT - self._running(is_rerun=True))],
        ]

    def _running(self, *, is_rerun: bool) -> int:
        return sum(1 for row in self.rows if row["command_id"] is not None and bool(row["rerun_number"]) is is_rerun)


def open_actions(connection: sa.Connection, schedule_ids: Collection[int]) -> Mapping[int, OpenActions]:
    """Return the open actions of each of these schedules."""
    found: dict[int, list[Row]] = defaultdict(list)
    rows = [dict(row) for row in connection.execute(_OPEN, {"schedules": list(schedule_ids)}).mappings()]
    # Sorted here: for this order, SQLite would read all actions that ever existed.
    for row in sorted(rows, key=lambda row: (row["nominal_time"], row["rerun_number"])):
        found[row["schedule_id"]].append(row)
    return {schedule_id: OpenActions(found.get(schedule_id, ())) for schedule_id in schedule_ids}
