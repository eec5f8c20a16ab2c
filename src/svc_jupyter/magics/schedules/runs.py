"""Find the command of a schedule's action; wait for it if the action is about to begin."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from svc_jupyter.api.status_words import word_of
from svc_jupyter.clock import named_time
from svc_jupyter.magics.cells.readers import plain_reader
from svc_jupyter.magics.cells.running import Run
from svc_jupyter.magics.commands.history import origin_of
from svc_jupyter.magics.display.errors import SvcServiceError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.progress import Line
from svc_jupyter.magics.session.session import Session
from svc_jupyter.widgets.schedules.words import name_of, next_time, nominal_time, reason_of

if TYPE_CHECKING:
    from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord
    from svc_jupyter.client import Command

SOON = timedelta(minutes=1)
"""Wait for an action that begins within this time, before it exists."""
_FIRST_LOOK, _LONGEST_PAUSE, _GROWTH = 0.1, 2.0, 1.5


def run_of_action(session: Session, schedule: str, sequence: int | None, line: Line) -> Run:
    """Return the run of an action's command; waits while the action waits, until the cell is interrupted."""
    origin = Origin("command")

    def start() -> Command:
        record = session.client().schedules.find(schedule)
        pause = _FIRST_LOOK
        while (command := _command(session, record, sequence, run)) is None and not run.stopped:
            time.sleep(pause)
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)
        if command is None:
            raise SvcServiceError(f"no action of schedule {name_of(record)} was waited for any more")
        found = origin_of(command.record)
        origin.noun, origin.text = found.noun, found.text
        return command

    run = Run(start, plain_reader, origin, line, cancels=False)
    return run


def command_of_action(session: Session, schedule: str, sequence: int | None) -> Command:
    """Return the current command of an action. Raises SvcServiceError when it has none yet."""
    record = session.client().schedules.find(schedule)
    action = latest_action(session, record, sequence)
    if action is None or action.query_hist_id is None:
        raise SvcServiceError(_nothing_ran(record, action))
    return session.client().commands.get(action.query_hist_id)


def latest_action(session: Session, record: ScheduleRecord, sequence: int | None) -> ActionRecord | None:
    """Return an action, or the newest of all, and of reruns the newest; None when it does not exist yet."""
    from svc_jupyter.client.errors import NotFound

    schedules = session.client().schedules
    if sequence is None:
        return next(iter(schedules.actions(record.id, per_page=1).actions), None)
    try:
        return schedules.action(record.id, sequence)
    except NotFound:
        return None


def _command(session: Session, record: ScheduleRecord, sequence: int | None, run: Run) -> Command | None:
    """Return the action's command, or None while it may still come."""
    action = latest_action(session, record, sequence)
    if action is None:
        following = next_time(session.client().schedules.get(record.id))
        if following is None or following > datetime.now(UTC) + SOON:
            raise SvcServiceError(_nothing_ran(record, None))
        run.before = f"schedule {name_of(record)} begins"
        return None
    if action.query_hist_id is not None:
        return session.client().commands.get(action.query_hist_id)
    if action.done:
        raise SvcServiceError(_nothing_ran(record, action))
    word = word_of(str(action.status), has_command=False)
    reason = f" ({reason})" if (reason := reason_of(action)) else ""
    run.before = f"schedule {name_of(record)}, action {action.sequence_id}: {word}{reason}"
    return None


def _nothing_ran(record: ScheduleRecord, action: ActionRecord | None) -> str:
    now = datetime.now(UTC)
    if action is None:
        return f"schedule {name_of(record)} has not run that yet; next: {named_time(next_time(record), now)}"
    when = named_time(nominal_time(action), now)
    word = word_of(str(action.status), has_command=False)
    reason = f": {reason}" if (reason := reason_of(action)) else ""
    return f"schedule {name_of(record)}: action {action.sequence_id} of {when} ran nothing, {word}{reason}"
