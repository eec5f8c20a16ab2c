"""Schedules, their actions and their runs as DataFrames: times are aware, on this machine's clock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from svc_jupyter.api.status_words import WORDS_OF_SCHEDULES, type_word, word_of
from svc_jupyter.clock import on_own_clock
from svc_jupyter.magics.display.frames import frame_of, times_column
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
    return frame_of(
        SCHEDULE_COLUMNS,
        [
            (
                schedule.id,
                schedule.name,
                WORDS_OF_SCHEDULES.get(str(schedule.status), str(schedule.status)),
                type_word(schedule.command_type),
                timetable_text(schedule),
                _shown(next_time(schedule)),
                _shown(moment(schedule.end_time, schedule.time_zone)),
                schedule.label or "",
                schedule.time_zone,
            )
            for schedule in schedules
        ],
        times=("next_run", "end"),
    )


def _shown(time: datetime | None) -> datetime | None:
    return None if time is None else on_own_clock(time)


def actions_frame(actions: Iterable[ActionRecord]) -> pd.DataFrame:
    """Return a row per action: its command and what it waits for.

    `sequence` counts the nominal times, `command` is the id of its command, `rerun` the number of reruns.
    """
    rows = [
        (
            action.sequence_id,
            action.id,
            nominal_time(action),
            word_of(str(action.status), has_command=action.query_hist_id is not None),
            action.rerun_number,
            action.query_hist_id,
            list(action.dependencies.found) if action.dependencies else [],
            list(action.dependencies.not_found) if action.dependencies else [],
            reason_of(action),
        )
        for action in actions
    ]
    return frame_of(ACTION_COLUMNS, rows, times=("nominal_time",), integers=("command",))


def runs_frame(commands: Iterable[CommandRecord], zone_name: str) -> pd.DataFrame:
    """Return a row per command of a schedule, with its nominal time and the columns of the history."""
    records = list(commands)
    frame = history_frame(records)
    frame.insert(0, "nominal_time", times_column(moment(record.nominal_time, zone_name) for record in records))
    return frame
