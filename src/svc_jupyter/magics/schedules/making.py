"""`%%svc_schedule create`, `edit` and `preview`, `%svc_schedule create-notebook`: define a schedule."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument
from svc_jupyter.magics.arguments.options import macro_options, macros, out_option
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.commands.composite import Section, sections_of
from svc_jupyter.magics.commands.notebook_runs import arguments_for, texts_of
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.schedules.handle import LAST_ACTIONS_SHOWN, PreviewAnswer, ScheduleHandle
from svc_jupyter.magics.schedules.options import (
    checked_zone,
    schedule_fields,
    schedule_options,
    timetable_fields,
    timetable_options,
)
from svc_jupyter.magics.session.session import ask
from svc_jupyter.widgets.schedules.model import TIMETABLE, coming_times, timetable_of

if TYPE_CHECKING:
    from svc_jupyter.api.schedules import ScheduleRecord

_MAGIC = "svc_schedule"
_AS_IN_A_SCHEDULE = {"timeout": "command_timeout"}
_NOTHING_OF: Mapping[str, Mapping[str, Any]] = {
    "catch_up": {"no_catch_up": False},
    "no_end": {"end_time": ""},
    "no_dependencies": {"dependency_info": {}},
    "no_notifications": {"notification": {}, "can_notify": False, "due_by": "", "longer_than": 0},
    "no_alerts": {"due_by": "", "longer_than": 0},
}
"""The values that `edit` sends to remove something."""


class ScheduleMaking(SvcFamily):
    """The actions of `%svc_schedule` that define a schedule."""

    @action("svc_schedule create")
    @schedule_options
    @out_option("the schedule's handle")
    def create(self, values: argparse.Namespace, cell: str | None = None) -> ScheduleHandle:
        """Run the cell below at the times of --every or --cron; it starts with `%%svc_db …` or `%%svc_shell …`.

        Several such cells run one after the other, as one composite command.
        """
        if cell is None:
            raise SvcUsageError(
                "svc_schedule create: write %%svc_schedule above the cell that is to run by schedule. "
                "For a stored notebook: %svc_schedule create-notebook PATH"
            )
        sections = sections_of("svc_schedule create", cell, self.shell.user_ns, self.session)
        fields = self._timetable(values) | schedule_fields(values, self.shell.user_ns)
        fields = with_common(fields, sections)

        def make() -> ScheduleHandle:
            command_type, command = command_of(sections)
            return self._created(command_type, command, fields)

        return self.keep(values, ask(make, "schedule"))

    @action("svc_schedule create-notebook")
    @argument("path", metavar="PATH", help="Notebook to run, such as Users/ann@example.com/report.ipynb.")
    @argument(
        "--arg", metavar="NAME=VALUE", action="append", default=[], help="Parameter, of the type that the notebook has."
    )
    @argument("--keep-source", action="store_true", help="Do not write the outputs into the stored notebook.")
    @schedule_options
    @out_option("the schedule's handle")
    def create_notebook(self, values: argparse.Namespace) -> ScheduleHandle:
        """Run a stored notebook at the times of --every or --cron."""
        command: dict[str, Any] = {"path": values.path}
        if values.keep_source:
            command["upload_to_source"] = False
        texts = texts_of(values.arg)
        fields = self._timetable(values) | schedule_fields(values, self.shell.user_ns)
        for name in ("retry", "retry_delay"):  # a notebook's command has its own
            if name in fields:
                command[name] = fields.pop(name)

        def make() -> ScheduleHandle:
            if texts:
                command["arguments"] = arguments_for(values.path, texts, self.session.client())
            return self._created("JupyterNotebookCommand", command, fields)

        return self.keep(values, ask(make, "schedule"))

    @action("svc_schedule edit")
    @argument("schedule", metavar="SCHEDULE", help="Name or id of the schedule.")
    @schedule_options
    @argument("--catch-up", action="store_true", help="Run missed nominal times.")
    @argument("--no-end", action="store_true", help="Remove the end.")
    @argument("--no-dependencies", action="store_true", help="Remove the dependencies.")
    @argument("--no-notifications", action="store_true", help="Stop the notifications, and the alerts.")
    @argument("--no-alerts", action="store_true", help="Stop the alerts of --due-by and --longer-than.")
    @out_option("the schedule's handle")
    def edit(self, values: argparse.Namespace, cell: str | None = None) -> ScheduleHandle:
        """Change what the options name; a cell below replaces the command. Everything else stays.

        Running actions do not change.
        """
        taken = [name for name in _NOTHING_OF if getattr(values, name)]
        fields = schedule_fields(values, self.shell.user_ns)
        given = set(fields) | ({"end_time"} if values.end else set())
        for name in taken:
            if doubled := set(_NOTHING_OF[name]) & given:
                raise SvcUsageError(f"svc_schedule edit: --{name.replace('_', '-')} contradicts {min(doubled)}")
            fields |= _NOTHING_OF[name]
        sections: list[Section] = []
        if cell is not None:
            sections = sections_of("svc_schedule edit", cell, self.shell.user_ns, self.session)
            fields = with_common(fields, sections)

        def change() -> ScheduleHandle:
            schedules = self.session.client().schedules
            record = schedules.find(values.schedule)
            changes = timetable_fields(values, values.tz or record.time_zone, datetime.now(UTC)) | fields
            for name in ("due_by", "longer_than"):  # another service may not know what is to be removed
                if not changes.get(name) and getattr(record, name) is None:
                    changes.pop(name, None)
            if sections:
                changes["command"] = command_for(record, sections)
            if not changes:
                raise SvcUsageError("svc_schedule edit: nothing to change was given")
            return self._handle(schedules.edit(record.id, **changes))

        return self.keep(values, ask(change, "edit"))

    @action("svc_schedule preview")
    @argument("schedule", metavar="SCHEDULE", nargs="?", help="Name or id of a schedule, instead of a cell.")
    @argument("--nominal-time", metavar="TIME", help="Nominal time of the run (default: the next one, or now).")
    @timetable_options
    @macro_options
    @out_option("the preview")
    def preview(self, values: argparse.Namespace, cell: str | None = None) -> PreviewAnswer:
        """Show what would run, with the values of the macros, and the next five runs; nothing is created or changed."""
        if (cell is None) == (values.schedule is None):
            raise SvcUsageError("svc_schedule preview: name a schedule, or write the cell that is to run below")
        fields = timetable_fields(values, values.tz or self.session.settings.default_time_zone, datetime.now(UTC))
        fields |= {"macros": macros(values, self.shell.user_ns) or None, "nominal_time": values.nominal_time}
        fields = {name: value for name, value in fields.items() if value is not None}
        if cell is None:
            answer = ask(lambda: self._preview_of(values.schedule, fields), "preview")
        else:
            sections = sections_of("svc_schedule preview", cell, self.shell.user_ns, self.session)
            fields.setdefault("time_zone", self._zone(values) or "UTC")
            answer = ask(lambda: self._preview_of_cell(sections, fields), "preview")
        return self.keep(values, answer)

    # Runs outside the cell's thread.

    def _created(self, command_type: str, command: Mapping[str, Any], fields: Mapping[str, Any]) -> ScheduleHandle:
        return self._handle(self.session.client().schedules.create(command_type, command, **fields))

    def _handle(self, record: ScheduleRecord) -> ScheduleHandle:
        """Return the handle of a schedule with its next runs and its last actions."""
        from svc_jupyter.client.errors import StatusError

        client = self.session.client()
        actions = []
        with suppress(StatusError):  # only adds detail to known facts
            actions = client.schedules.actions(record.id, per_page=LAST_ACTIONS_SHOWN).actions
        return ScheduleHandle(self.session.client, record, coming_times(client, record, datetime.now(UTC)), actions)

    def _preview_of(self, name: str, given: Mapping[str, Any]) -> PreviewAnswer:
        """Preview a schedule; given values take precedence over its own."""
        from svc_jupyter.client.errors import Invalid

        schedules = self.session.client().schedules
        record = schedules.find(name)
        fields = {"command": record.command, "macros": record.macros, **timetable_of(record), **given}
        if "cron_expression" in given:
            fields = {name: value for name, value in fields.items() if name not in ("frequency", "time_unit")}
        if "frequency" in given:
            fields.pop("cron_expression", None)
        fields.setdefault("nominal_time", record.next_materialized_time)
        try:
            preview = schedules.preview(**fields)
        except Invalid:
            if set(given) & set(TIMETABLE):
                raise
            # It runs no more, but its command can still be previewed.
            fields = {name: value for name, value in fields.items() if name not in TIMETABLE}
            preview = schedules.preview(**fields, time_zone=record.time_zone)
        return PreviewAnswer(preview, record.command_type)

    def _preview_of_cell(self, sections: list[Section], fields: dict[str, Any]) -> PreviewAnswer:
        command_type, command = command_of(sections)
        own = [macro for section in sections for macro in section.common.get("macros", [])]
        fields = {**fields, "macros": [*fields.get("macros", []), *own], "command": command}
        return PreviewAnswer(self.session.client().schedules.preview(**fields), command_type)

    # Makes no call.

    def _zone(self, values: argparse.Namespace) -> str | None:
        name = values.tz or self.session.settings.default_time_zone or None
        return checked_zone(name) if name else None

    def _timetable(self, values: argparse.Namespace) -> dict[str, Any]:
        """Return the timetable of a new schedule, in the given or the configured zone."""
        if not values.every and not values.cron:
            raise SvcUsageError('svc_schedule: say when it runs: --every "1 day" --at 09:00, or --cron "0 9 * * *"')
        zone = self._zone(values)
        fields = timetable_fields(values, zone, datetime.now(UTC))
        return fields | ({"time_zone": zone} if zone else {})


def with_common(fields: Mapping[str, Any], sections: list[Section]) -> dict[str, Any]:
    """Return a schedule's fields with the options of its only cell's line; several cells keep their own.

    Raises SvcUsageError for an option on both lines, and for options that read a result, since a schedule waits for
    none.
    """
    for section in sections:
        if getattr(section.values, "format", "lines") != "lines":
            raise SvcUsageError("--format is for a result that is read: leave it out here, give it to result")
    if len(sections) > 1:
        return dict(fields)
    merged = dict(fields)
    for name, value in sections[0].common.items():
        place = _AS_IN_A_SCHEDULE.get(name, name)
        if place == "macros":
            merged["macros"] = [*merged.get("macros", []), *value]
        elif place in merged:
            raise SvcUsageError(f"{name} is given in both lines; leave it out of the second one")
        else:
            merged[place] = value
    names = [name for macro in merged.get("macros", []) for name in macro]
    if twice := {name for name in names if names.count(name) > 1}:
        raise SvcUsageError(f"${min(twice)}$ has a value in both lines")
    return merged


def command_of(sections: list[Section]) -> tuple[str, dict[str, Any]]:
    """Return the type and the fields of the sections' command; may ask the service."""
    if len(sections) == 1:
        definition = sections[0].definition
        return definition.command_type, definition.fields()
    return "CompositeCommand", {"sub_commands": [section.body() for section in sections]}


def command_for(record: ScheduleRecord, sections: list[Section]) -> dict[str, Any]:
    """Return the new command of a schedule, whose type cannot change."""
    command_type, command = command_of(sections)
    if record.command_type == "CompositeCommand" and len(sections) == 1:
        return {"sub_commands": [sections[0].body()]}
    if command_type != record.command_type:
        raise SvcUsageError(
            f"schedule {record.name} runs a {record.command_type} and cannot change to a {command_type}; "
            "create a new one and kill this one"
        )
    return command
