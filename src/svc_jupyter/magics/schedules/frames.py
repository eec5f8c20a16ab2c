"""Schedules, their actions and their runs as DataFrames: times are aware, in each schedule's own zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import WORDS_OF_SCHEDULES, type_word, word_of
from svc_jupyter.magics.display.records import history_frame
from svc_jupyter.widgets.schedules.words import moment, next_time, nominal_time, reason_of, timetable_text

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.commands import CommandRecord
    from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord

SCHEDULE_COLUMNS = ("id", "name", "status", "type", "runs", "next_run", "end", "label", "time_zone")
ACTION_COLUMNS = ("sequence", "id", "nominal_time", "status", "rerun", "command", "found", "missing", "reason")


def schedules_frame(schedules: Iterable[ScheduleRecord]) -> pd.DataFrame:
    """Return a row per schedule: its timetable in words, its next time and its end."""
    rows = list(schedules)
    return _frame(
        SCHEDULE_COLUMNS,
        [
            (
                schedule.id,
                schedule.name,
                WORDS_OF_SCHEDULES.get(str(schedule.status), str(schedule.status)),
                type_word(schedule.command_type),
                timetable_text(schedule),
                next_time(schedule),
                moment(schedule.end_time, schedule.time_zone),
                schedule.label or "",
                schedule.time_zone,
            )
            for schedule in rows
        ],
        times=("next_run", "end"),
    )


def actions_frame(actions: Iterable[ActionRecord], zone_name: str) -> pd.DataFrame:
    """Return a row per action of a schedule in a zone: its command and what it waits for.

    `sequence` counts the nominal times, `command` is the id of its command, `rerun` the number of reruns.
    """
    rows = [
        (
            action.sequence_id,
            action.id,
            nominal_time(action, zone_name),
            word_of(str(action.status), has_command=action.query_hist_id is not None),
            action.rerun_number,
            action.query_hist_id,
            list(action.dependencies.found) if action.dependencies else [],
            list(action.dependencies.not_found) if action.dependencies else [],
            reason_of(action),
        )
        for action in actions
    ]
    return _frame(ACTION_COLUMNS, rows, times=("nominal_time",)).astype({"command": "Int64"})


def runs_frame(commands: Iterable[CommandRecord], zone_name: str) -> pd.DataFrame:
    """Return a row per command of a schedule, with its nominal time and the columns of the history."""
    records = list(commands)
    nominal = [moment(record.nominal_time, zone_name) for record in records]
    frame = history_frame(records)
    frame.insert(0, "nominal_time", times_column(nominal))
    return frame


def _frame(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, times: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame([list(row) for row in rows], columns=list(columns))
    for name in times:
        place = columns.index(name)
        frame[name] = times_column([row[place] for row in rows])
    return frame


def times_column(times: Sequence[datetime | None]) -> pd.Series[Any]:
    """Return aware times as a column: of one type if they share a zone, else as objects."""
    import pandas as pd

    zones = {str(time.tzinfo): time.tzinfo for time in times if time is not None}
    if len(zones) > 1:
        return pd.Series([pd.NaT if time is None else pd.Timestamp(time) for time in times], dtype="object")
    instants = [None if time is None else time.timestamp() for time in times]
    column = pd.Series(pd.to_datetime(pd.Series(instants, dtype="float64"), unit="s", utc=True))
    return column.dt.tz_convert(next(iter(zones.values()), UTC))
