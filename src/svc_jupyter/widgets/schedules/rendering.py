"""A schedule panel as text and HTML: pure functions of its state, with the current time as an argument.

HTML uses the colours and fonts of the front end's theme; every value is escaped.
"""

from __future__ import annotations

from datetime import datetime
from html import escape

from svc_jupyter.api.status_words import FAILURES, icon_of, schedule_words, word_of
from svc_jupyter.clock import as_of_text, short_time
from svc_jupyter.widgets.panels.rendering import FAILED, MUTED
from svc_jupyter.widgets.schedules.model import ScheduleState
from svc_jupyter.widgets.schedules.words import name_of, nominal_time, reason_of, timetable_text

NOTHING_YET = 'There are no schedules yet. The first: %%svc_schedule --every "1 day" --at 09:00 above a cell that runs.'
_NOT_RUN = "It has not run yet."
_CELL = "text-align: left; padding: 0 1em 0 0; vertical-align: top"


def title_text(state: ScheduleState) -> str:
    """Return `report (12) · ● active · every day at 09:00 (Europe/Paris)`."""
    record = state.record
    return f"{name_of(record)} · {schedule_words(record.status)} · {timetable_text(record)}"


def coming_text(state: ScheduleState, now: datetime) -> str:
    """Return the next runs, or why there are none."""
    if state.coming:
        return " · ".join(short_time(time, now) for time in state.coming)
    return {
        "SUSPENDED": "none until it is resumed",
        "DONE": "none: its end time has passed",
        "KILLED": "none: it was ended by hand",
    }.get(str(state.record.status), "none")


def action_rows(state: ScheduleState, now: datetime) -> list[tuple[str, str, str, str]]:
    """Return for each of the last actions: number, nominal time, icon and word of its status, and the reason."""
    rows = []
    for action in state.actions:
        status = str(action.status)
        word = word_of(status, has_command=action.query_hist_id is not None)
        again = f" (rerun {action.rerun_number})" if action.rerun_number else ""
        command = f"command {action.query_hist_id}" if action.query_hist_id is not None else ""
        details = " · ".join(part for part in (command, reason_of(action)) if part)
        when = short_time(nominal_time(action), now)
        rows.append((f"{action.sequence_id}{again}", when, f"{icon_of(status)} {word}", details))
    return rows


def panel_text(state: ScheduleState, now: datetime) -> str:
    """Return the whole panel as text, for front ends without widgets."""
    rows = action_rows(state, now)
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
    lines = [
        f"  {number:<{widths[0]}}  {when:<{widths[1]}}  {status:<{widths[2]}}  {details}".rstrip()
        for number, when, status, details in rows
    ]
    return "\n".join(
        [
            f"schedule {title_text(state)}",
            f"  next  {coming_text(state, now)}",
            *(lines or [f"  {_NOT_RUN}"]),
            f"  {as_of_text(state.as_of)}",
        ]
    )


def title_html(state: ScheduleState) -> str:
    """Return the panel's first line."""
    record = state.record
    return (
        f'<span role="heading" aria-level="3"><b>{escape(name_of(record))}</b></span> · '
        f"{escape(schedule_words(record.status))} · {escape(timetable_text(record))}"
    )


def coming_html(state: ScheduleState, now: datetime) -> str:
    """Return the line of the next runs."""
    return f"<b>Next</b> {escape(coming_text(state, now))}"


def actions_html(state: ScheduleState, now: datetime) -> str:
    """Return the table of the last actions; one that needs attention is also coloured."""
    if not state.actions:
        return f'<span style="{MUTED}">{_NOT_RUN}</span>'
    head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("Run", "For", "Status", ""))
    body = []
    for action, row in zip(state.actions, action_rows(state, now), strict=True):
        colour = f"; {FAILED}" if str(action.status) in FAILURES else ""
        cells = "".join(f'<td style="{_CELL}{colour}">{escape(text)}</td>' for text in row)
        body.append(f"<tr>{cells}</tr>")
    return (
        f'<div style="overflow-x: auto"><table style="border-collapse: collapse; line-height: 1.6">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
