"""A ticker without a service: the real steps on a real database, with a clock that is told what time it is.

Commands are rows that end when the simulation says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.states import CommandStatus, ScheduleStatus
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.schedules.materialisation import Materialisation, Ready, next_moments
from svc_jupyter.service.schedules.ticker import missed_ends, wake_stranded
from svc_jupyter.service.schedules.timetable import from_seconds, next_nominal_time, timetable_of
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.commands import NEW_ROW, commands
from svc_jupyter.service.schema.schedules import Action, Schedule, actions, schedules

Row = Mapping[str, Any]

_INSERT = sa.insert(commands)
_SET_STATUS = sa.update(commands).where(commands.c.id == sa.bindparam("this_command"))


class Killed(Exception):
    """The ticker's process ended in the middle of a transaction."""


def instant(text: str) -> float:
    """Return Unix seconds of a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _do_not_wait_for_the_disk(database: Database) -> None:
    """Let commits return before they are on disk: nothing here is about a power cut."""
    with database.begin() as connection:
        name = connection.execute(sa.text("SELECT current_database()")).scalar()
        connection.execute(sa.text(f'ALTER DATABASE "{name}" SET synchronous_commit = off'))
    database.engine.dispose()


class Simulation:
    """Schedules, a ticker's steps, and commands that last `duration` seconds of simulated time."""

    def __init__(
        self,
        database: Database,
        account_id: int,
        *,
        duration: float = 0.0,
        kill: Callable[[], bool] = lambda: False,
        bus: Bus | None = None,
    ) -> None:
        self.database = database
        self.account_id = account_id
        self.duration = duration
        self._kill = kill
        self.now = 0.0
        self.kills = 0
        self.running: dict[int, float] = {}
        self.ended: list[tuple[Schedule, Action]] = []
        self.place: Callable[[sa.Connection, Row], int | None] = lambda _connection, _row: None
        self.bus = bus or Bus(database)
        self.work = Materialisation(self.bus, self._insert_commands, self._place, self._on_end)
        if not database.on_sqlite:
            _do_not_wait_for_the_disk(database)
        with database.connect() as connection:
            self.user_id: int = connection.execute(sa.select(users.c.id)).scalars().first() or 0

    def _place(self, connection: sa.Connection, row: Row) -> int | None:
        return self.place(connection, row)

    def add(self, *, start: float, now: float | None = None, **values: Any) -> int:
        """Store a schedule as creation does; return its id."""
        row = {
            "account_id": self.account_id,
            "user_id": self.user_id,
            "status": ScheduleStatus.RUNNING.value,
            "created_at": start,
            "command_type": "ShellCommand",
            "command": {"inline": "true"},
            "start_time": start,
            "end_time": None,
            "time_zone": "UTC",
            "frequency": None,
            "time_unit": None,
            "cron_expression": None,
            "concurrency": 1,
            "no_catch_up": False,
            "time_out": 600,
            "command_timeout": 129_600,
            "retry": 0,
            "retry_delay": 1,
            "can_notify": False,
            "is_digest": False,
            "digest_time_hour": 0,
            "digest_time_minute": 0,
            "notify_failure": False,
            "notify_success": False,
            **values,
        }
        after = start if row["cron_expression"] else start - 1e-6
        timetable = timetable_of(Schedule(**dict.fromkeys(schedules.c.keys()) | row))
        first = next_nominal_time(timetable, from_seconds(after if now is None else now))
        row["next_nominal"] = row["due_at"] = None if first is None else first.timestamp()
        with self.database.begin(durable=False) as connection:
            inserted = connection.execute(sa.insert(schedules).values(**row)).inserted_primary_key
        assert inserted is not None
        return int(inserted[0])

    def step(self) -> Sequence[Ready]:
        """Tick once at the current time; return what is left to resolve. A kill undoes it all."""
        return self._attempt(lambda connection: self.work.tick(connection, self.now)).ready

    def settle(self) -> None:
        """Tick, and end the commands whose time is over, until nothing is left to do now."""
        while True:
            looked_at = self._attempt(lambda connection: self.work.tick(connection, self.now)).looked_at
            if not self.end_due_commands() and not looked_at:
                return

    def end_due_commands(self) -> int:
        """End the commands whose time is over; return how many."""
        due = [command_id for command_id, until in self.running.items() if until <= self.now]
        for command_id in due:
            self.end_command(command_id)
        return len(due)

    def end_command(self, command_id: int, status: CommandStatus = CommandStatus.DONE) -> None:
        """End a command as the runner does, in one transaction with its action."""

        def work(connection: sa.Connection) -> None:
            connection.execute(_SET_STATUS, {"this_command": command_id, "status": status})
            row = {"id": command_id, "status": status.value, "message": None}
            self.work.command_ended(connection, row, self.now)

        self._attempt(work)
        del self.running[command_id]

    def run_until(self, end: float, *, outage: Callable[[], float] = lambda: 0.0) -> None:
        """Let time pass, from one thing that is due to the next; `outage` says for how long nobody ticks."""
        while True:
            self.settle()
            with self.database.connect() as connection:
                coming = min(*next_moments(connection), *self.running.values())
            following = max(coming, self.now) + outage()
            if following >= end:
                self.now = end
                self.settle()
                return
            self.now = following

    def recover(self) -> None:
        """Put right what a kill left, as a ticker that begins does."""
        with self.database.begin(durable=False) as connection:
            wake_stranded(connection, self.now)
            for command in missed_ends(connection):
                self.work.command_ended(connection, command, self.now)

    def actions(self, schedule_id: int | None = None) -> list[Row]:
        """Return the actions, oldest first."""
        query = sa.select(actions).order_by(actions.c.schedule_id, actions.c.sequence_id, actions.c.rerun_number)
        if schedule_id is not None:
            query = query.where(actions.c.schedule_id == schedule_id)
        with self.database.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def schedule(self, schedule_id: int) -> Row:
        """Return a schedule's row."""
        with self.database.connect() as connection:
            query = sa.select(schedules).where(schedules.c.id == schedule_id)
            return dict(connection.execute(query).mappings().one())

    def _attempt(self, work: Callable[[sa.Connection], Any]) -> Any:
        """Run work in a transaction until it is not killed; after each kill a new ticker recovers first."""
        while True:
            before = dict(self.running), list(self.ended)
            try:
                with self.database.begin(durable=False) as connection:
                    done = work(connection)
                    self._be_killed_perhaps()
            except Killed:
                self.kills += 1
                self.running, self.ended = before
                self.recover()
            else:
                return done

    def _be_killed_perhaps(self) -> None:
        if self._kill():
            raise Killed

    def _insert_commands(self, connection: sa.Connection, new: Sequence[Mapping[str, Any]]) -> list[int]:
        return [self._insert_command(connection, values) for values in new]

    def _insert_command(self, connection: sa.Connection, values: Mapping[str, Any]) -> int:
        row = {**NEW_ROW, "folder_key": "0a1b", **values, "status": CommandStatus.WAITING.value}
        del row["id"]
        inserted = connection.execute(_INSERT, row).inserted_primary_key
        assert inserted is not None
        command_id = int(inserted[0])
        self.running[command_id] = self.now + self.duration
        return command_id

    def _on_end(self, connection: sa.Connection, schedule: Schedule, action: Action) -> None:
        del connection
        self.ended.append((schedule, action))
