"""The value of `%svc_schedule create`, `show` and `edit`: a schedule with its main facts and its methods."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import icon_of, schedule_words, type_word, word_of
from svc_jupyter.clock import own_zone, short_time
from svc_jupyter.magics.display.frames import times_column
from svc_jupyter.magics.display.records import shortened
from svc_jupyter.magics.display.rendering import facts_html, facts_text
from svc_jupyter.magics.schedules.frames import actions_frame
from svc_jupyter.magics.session.session import ask
from svc_jupyter.widgets.schedules.words import (
    moment,
    name_of,
    nominal_time,
    reason_of,
    timetable_text,
)

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.schedules import ActionRecord, Preview, ScheduleRecord
    from svc_jupyter.client import Client

LAST_ACTIONS = 20
LAST_ACTIONS_SHOWN = 3


class ScheduleHandle:
    """One schedule: `.id`, `.record`, `.actions()`, `.suspend()`, `.resume()`, `.kill()`.

    `coming` are its next nominal times, if the service reported them.
    """

    def __init__(
        self,
        client: Callable[[], Client],
        record: ScheduleRecord,
        coming: list[datetime] | None = None,
        last: list[ActionRecord] | None = None,
    ) -> None:
        self.record = record
        self.coming = coming or []
        self._client = client
        self._last = last or []

    @property
    def id(self) -> int:
        """The schedule's id."""
        return self.record.id

    @property
    def name(self) -> str:
        """Its name, or its id if it has none."""
        return self.record.name

    def refresh(self) -> ScheduleHandle:
        """Fetch the current record."""
        self.record = ask(lambda: self._client().schedules.get(self.id), "schedule")
        return self

    def actions(self, rows: int = LAST_ACTIONS) -> pd.DataFrame:
        """Return the latest actions, newest first."""
        actions = ask(lambda: self._client().schedules.actions(self.id, per_page=rows).actions, "actions")
        return actions_frame(actions[:rows])

    def suspend(self) -> str:
        """Suspend: no action begins until `resume`. Return the new status."""
        return self._change(lambda: str(self._client().schedules.suspend(self.id)))

    def resume(self, *, no_catch_up: bool | None = None) -> str:
        """Resume, with `no_catch_up` without the missed times; return the new status."""
        return self._change(lambda: str(self._client().schedules.resume(self.id, no_catch_up=no_catch_up)))

    def kill(self) -> str:
        """Kill the schedule; return the new status."""
        return self._change(lambda: str(self._client().schedules.kill(self.id)))

    def _change(self, change: Callable[[], str]) -> str:
        status = ask(change, "change")
        self.refresh()
        return status

    def _title(self) -> str:
        return f"schedule {name_of(self.record)} · {schedule_words(self.record.status)}"

    def _facts(self) -> list[tuple[str, str]]:
        return schedule_facts(self.record, self.coming, self._last, datetime.now(UTC))

    def __repr__(self) -> str:
        return facts_text(self._title(), self._facts())

    def _repr_html_(self) -> str:
        return facts_html(self._title(), self._facts())


def schedule_facts(
    record: ScheduleRecord, coming: list[datetime], last: list[ActionRecord], now: datetime
) -> list[tuple[str, str]]:
    """Return the main names and values; empty ones are omitted."""
    following = coming if str(record.status) == "RUNNING" else []
    end = moment(record.end_time, record.time_zone)
    waits_for = [str(file.get("path")) for file in (record.dependency_info or {}).get("files") or []]
    facts = [
        ("runs", timetable_text(record)),
        ("next", " · ".join(short_time(time, now) for time in following)),
        ("until", short_time(end, now) if end else None),
        ("last", "\n".join(action_text(action, now) for action in last)),
        ("times in", str(own_zone()) if following or end or last else None),
        ("command", command_text(record.command_type, record.command)),
        ("macros", ", ".join(f"{name}={value}" for macro in record.macros or [] for name, value in macro.items())),
        ("waits for", ", ".join(waits_for)),
        ("at once", str(record.concurrency) if record.concurrency not in (None, 1) else None),
        ("missed runs", "are dropped" if record.no_catch_up else None),
        ("retries", str(record.retry) if record.retry else None),
        ("cluster label", record.label),
        ("e-mail to", record.email_list),
    ]
    return [(name, value) for name, value in facts if value]


def action_text(action: ActionRecord, now: datetime) -> str:
    """Return an action in a few words: `Sat 22 Nov 09:00 ✓ done`."""
    word = word_of(str(action.status), has_command=action.query_hist_id is not None)
    reason = f" ({reason})" if (reason := reason_of(action)) else ""
    return f"{short_time(nominal_time(action), now)} {icon_of(str(action.status))} {word}{reason}"


def command_text(command_type: str, command: dict[str, Any]) -> str:
    """Return a command in a few words: its type and the first line of its text."""
    children = command.get("sub_commands")
    if isinstance(children, list):
        kinds = ", ".join(type_word(child.get("command_type")) for child in children)
        return f"{type_word(command_type)} of {len(children)}: {kinds}"
    text = shortened(command)
    return f"{type_word(command_type)}: {text}" if text else type_word(command_type)


class PreviewAnswer:
    """The value of `%svc_schedule preview`: `.command` with its macros resolved, `.macros`, and `.next_runs`."""

    def __init__(self, preview: Preview, command_type: str) -> None:
        self.command = preview.command
        self.macros = preview.macros
        self.description = preview.description
        self.next_times = [time for text in preview.next_times or [] if (time := moment(text, "UTC")) is not None]
        self._has_next_times = preview.next_times is not None
        self._command_type = command_type

    @property
    def next_runs(self) -> pd.Series[Any]:
        """The next nominal times on this machine's clock; empty when the service does not report them."""
        return times_column(self.next_times)

    def _facts(self) -> list[tuple[str, str]]:
        now = datetime.now(UTC)
        coming = " · ".join(short_time(time, now) for time in self.next_times)
        unknown = "none after now" if self._has_next_times else "the service does not report them"
        facts = [("runs", self.description or ""), ("next", f"{coming} ({own_zone()})" if coming else unknown)]
        facts += [(f"${name}$", str(value)) for name, value in self.macros.items()]
        facts += [(name, str(value)) for name, value in _texts(self.command)]
        return [(name, value) for name, value in facts if value]

    def __repr__(self) -> str:
        return facts_text(f"preview · {type_word(self._command_type)}", self._facts())

    def _repr_html_(self) -> str:
        return facts_html(f"preview · {type_word(self._command_type)}", self._facts())


def _texts(command: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the text of a command, or of each sub-command of a composite."""
    children = command.get("sub_commands")
    if not isinstance(children, list):
        return [(name, value) for name, value in command.items() if value not in (None, "", {}, [])]
    return [
        (f"{number}. {name}", value)
        for number, child in enumerate(children, start=1)
        for name, value in _texts(child)
        if name not in ("command_type", "macros")
    ]
