"""`%svc_schedule`: schedules, their actions and their commands."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import WORDS_OF_SCHEDULES, schedule_words, word_of
from svc_jupyter.clock import named_time
from svc_jupyter.magics.arguments.actions import action, help_of, split_action
from svc_jupyter.magics.arguments.decorators import argument, line_cell_magic
from svc_jupyter.magics.arguments.options import continued, load_option, out_option, output_options
from svc_jupyter.magics.cells.readers import reader_of
from svc_jupyter.magics.cells.running import Value
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.formats import OUTPUT_FORMATS, TYPES_HELP
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.schedules.frames import actions_frame, runs_frame, schedules_frame
from svc_jupyter.magics.schedules.handle import LAST_ACTIONS, ScheduleHandle
from svc_jupyter.magics.schedules.making import ScheduleMaking
from svc_jupyter.magics.schedules.runs import command_of_action, run_of_action
from svc_jupyter.magics.session.session import ask
from svc_jupyter.widgets.schedules.model import open_model
from svc_jupyter.widgets.schedules.panel import SchedulePanel, schedule_text
from svc_jupyter.widgets.schedules.words import name_of, nominal_time

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord
    from svc_jupyter.client.blocking.schedules import Schedules

_STATUSES: Mapping[str, Sequence[str]] = {
    "active": ["RUNNING"],
    "suspended": ["SUSPENDED"],
    "ended": ["DONE", "KILLED"],
}
_the_schedule = argument("schedule", metavar="SCHEDULE", help="Name or id of the schedule.")
_any_schedule = argument("schedule", metavar="SCHEDULE", nargs="?", help="Name or id; without it all schedules.")
_the_sequence = argument("sequence", metavar="SEQUENCE", type=int, help="Which action: its number in the schedule.")
_any_sequence = argument(
    "sequence", metavar="SEQUENCE", type=int, nargs="?", help="Which action: its number; by default the latest."
)


class ScheduleMagics(ScheduleMaking):
    """The magic for schedules."""

    @line_cell_magic
    @argument("action", metavar="ACTION", nargs="?", help="What to do; without it list, above a cell create.")
    def svc_schedule(self, line: str, cell: str | None = None) -> Any:
        """Create and manage schedules. Each action has its own options: `%svc_schedule list --help`.

        Above a cell: create, edit SCHEDULE, preview. By itself: create-notebook PATH, list, show, edit, preview,
        suspend, resume, kill, actions, runs, result, logs, rerun, kill-action, panel.
        """
        line, cell = continued(line, cell)
        actions = self.actions["svc_schedule"]
        name, rest = split_action("svc_schedule", line, actions, "list" if cell is None else "create")
        if text := help_of(actions[name], rest):
            return print(text)  # noqa: T201  the help is the output
        if cell is None:
            return actions[name](self, rest)
        if name not in ("create", "edit", "preview"):
            raise SvcUsageError(f"svc_schedule {name} takes no cell below its line; write it as %svc_schedule {name}")
        return actions[name](self, rest, cell)

    @action("svc_schedule list")
    @argument(
        "--status",
        metavar="STATUS",
        choices=[*_STATUSES, *WORDS_OF_SCHEDULES],
        help=f"Only schedules in this status: {', '.join(_STATUSES)}.",
    )
    @argument("--name", metavar="PART", help="Only schedules with this in their name, three characters or more.")
    @output_options
    def list_schedules(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the schedules as a DataFrame, newest first."""
        statuses = _STATUSES.get(values.status, [values.status])

        def fetch() -> pd.DataFrame:
            found = [each for status in statuses for each in self._schedules.iter(name=values.name, status=status)]
            return schedules_frame(sorted(found, key=lambda each: each.id, reverse=True))

        return self.shown(values, ask(fetch, "list"))

    @action("svc_schedule show")
    @_the_schedule
    @out_option("the schedule's handle")
    def show(self, values: argparse.Namespace) -> ScheduleHandle:
        """Show a schedule: when it runs, the next five times, the last actions, and what it runs."""
        return self.keep(values, ask(lambda: self._handle(self._schedules.find(values.schedule)), "schedule"))

    @action("svc_schedule suspend")
    @_the_schedule
    def suspend(self, values: argparse.Namespace) -> None:
        """Start no further action until `resume`. Running actions continue."""
        self._change(values, lambda record: self._schedules.suspend(record.id))

    @action("svc_schedule resume")
    @_the_schedule
    @argument("--no-catch-up", action="store_true", help="Drop the nominal times that were missed meanwhile.")
    def resume(self, values: argparse.Namespace) -> None:
        """Resume a suspended schedule; missed actions run first, unless the schedule or the option skips them."""
        drop = values.no_catch_up or None
        self._change(values, lambda record: self._schedules.resume(record.id, no_catch_up=drop))

    @action("svc_schedule kill")
    @_the_schedule
    def kill(self, values: argparse.Namespace) -> None:
        """End a schedule for good, with its running actions."""
        self._change(values, lambda record: self._schedules.kill(record.id))

    @action("svc_schedule actions")
    @_any_schedule
    @output_options
    def list_actions(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the actions, one per nominal time and rerun, as a DataFrame, newest first: 20, or the number of -n."""
        rows = LAST_ACTIONS if values.rows is None else values.rows

        def fetch() -> pd.DataFrame:
            record = self._schedules.find(values.schedule) if values.schedule else None
            some = list(itertools.islice(self._schedules.iter_actions(record.id if record else None), rows))
            frame = actions_frame(some)
            if record is None:
                frame.insert(0, "schedule", [action.periodic_job_id for action in some])
            return frame

        return self.shown(values, ask(fetch, "actions"))

    @action("svc_schedule runs")
    @_the_schedule
    @output_options
    def list_runs(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the commands that a schedule ran as a DataFrame, newest first, each with its nominal time."""

        def fetch() -> pd.DataFrame:
            record = self._schedules.find(values.schedule)
            return runs_frame(self._schedules.instances(record.id), record.time_zone)

        return self.shown(values, ask(fetch, "runs"))

    @action("svc_schedule result")
    @_the_schedule
    @_any_sequence
    @argument("--format", choices=OUTPUT_FORMATS, help="How a text output becomes a DataFrame.")
    @argument("--types", metavar="A=TYPE,B=TYPE", help=TYPES_HELP)
    @load_option
    @output_options
    def result(self, values: argparse.Namespace) -> Value:
        """Wait for the end of an action, and return its result as a DataFrame; an interrupt only ends the wait."""
        progress = line_for(self.shell)
        run = run_of_action(self.session, values.schedule, values.sequence, progress)
        run.read = lambda command, limit: reader_of(command, values.format, values.types)(command, limit)
        run.limit = self.load_limit(values)
        outcome = run.to_value()
        self.finish(progress, outcome, values, ended_before=True)
        return self.keep(values, outcome.value)

    @action("svc_schedule logs")
    @_the_schedule
    @_any_sequence
    @argument("-n", "--rows", metavar="ROWS", type=int, help="Only the last lines, so many.")
    def logs(self, values: argparse.Namespace) -> None:
        """Print the log of the command of an action."""

        def fetch() -> str:
            command = command_of_action(self.session, values.schedule, values.sequence)
            return command.logs() if values.rows is None else command.log_tail(values.rows)

        text = ask(fetch, "log")
        print(text, end="" if text.endswith("\n") else "\n")  # noqa: T201  the log is the output

    @action("svc_schedule rerun")
    @_the_schedule
    @_the_sequence
    def rerun(self, values: argparse.Namespace) -> None:
        """Run an action again, for the same nominal time."""

        def rerun(action: ActionRecord) -> str:
            answer = self._schedules.rerun(action.id)
            number = f" as action {answer.action.id}" if answer.action else ""
            return f"of {named_time(nominal_time(action), datetime.now(UTC))} runs again{number}"

        self._change_action(values, rerun)

    @action("svc_schedule kill-action")
    @_the_schedule
    @_the_sequence
    def kill_action(self, values: argparse.Namespace) -> None:
        """End a waiting or running action."""

        def kill(action: ActionRecord) -> str:
            if self._schedules.kill_action(action.id):
                return "ended"
            return f"had ended already: {word_of(str(action.status), has_command=action.query_hist_id is not None)}"

        self._change_action(values, kill)

    @action("svc_schedule panel")
    @_any_schedule
    def panel(self, values: argparse.Namespace) -> Any:
        """Show a panel with the next runs, the last actions and buttons.

        Without widgets, it is a text.
        """
        model = ask(lambda: open_model(self.session.client, values.schedule), "panel")
        return self.open_panel(lambda: SchedulePanel(model), lambda: schedule_text(model))

    @property
    def _schedules(self) -> Schedules:
        return self.session.client().schedules

    def _change(self, values: argparse.Namespace, change: Any) -> None:
        """Change the state of a schedule and print the new one."""

        def ask_for_it() -> tuple[ScheduleRecord, str]:
            record = self._schedules.find(values.schedule)
            return record, str(change(record))

        record, status = ask(ask_for_it, "change")
        print(f"schedule {name_of(record)} · {schedule_words(status)}")  # noqa: T201  the answer is the output

    def _change_action(self, values: argparse.Namespace, change: Callable[[ActionRecord], str]) -> None:
        """Change an action and print what became of it."""

        def ask_for_it() -> str:
            record = self._schedules.find(values.schedule)
            became = change(self._schedules.action(record.id, values.sequence))
            return f"schedule {name_of(record)} · action {values.sequence} {became}"

        print(ask(ask_for_it, "change"))  # noqa: T201  the answer is the output
