"""`%svc_spark_note` and `%svc_spark_run`: run a stored Spark note, in a panel or in the cell."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import (
    check_output_name,
    out_option,
    parse,
    several_outputs,
    submission_options,
    submission_options_with,
)
from svc_jupyter.magics.cells.cells import Definition, SvcFamily
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import unchanged
from svc_jupyter.magics.cells.running import Reading, Value
from svc_jupyter.magics.commands.notebook_runs import arguments_of
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.formats import parsed_frame
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.progress import plural
from svc_jupyter.magics.display.rendering import is_kept, kept_text, shape_of, size_text
from svc_jupyter.magics.session.session import Session, ask
from svc_jupyter.magics.workspace.note_answer import NoteAnswer
from svc_jupyter.magics.workspace.places import is_id, note_called
from svc_jupyter.widgets.notes import NoteFormPanel, form_text
from svc_jupyter.widgets.panels.frame import PanelText

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Client, Command

_the_note = argument("note", metavar="NOTE", help="Id of the note, or its location such as Common/reports/late.")
_ROWS_SHOWN = 20


class SparkNoteMagics(SvcFamily):
    """The magic for one note."""

    @line_magic
    @argument("action", metavar="ACTION", help="What to do.")
    def svc_note(self, line: str) -> Any:
        """Work with a Spark notebook: `%svc_note run Common/reports/late 3`.

        show NOTE, run NOTE PARAGRAPH [NAME=VALUE …], form NOTE. Each has its own options: `%svc_note run --help`.
        """
        return self.act("svc_note", line, "show")

    @action("svc_note show")
    @_the_note
    @out_option("the note")
    def show_note(self, values: argparse.Namespace) -> NoteAnswer:
        """Show a note: its text, its forms and its cluster."""
        return self.keep(values, NoteAnswer(ask(lambda: _note(self.session.client(), values.note), "note")))

    @action("svc_note run")
    @_the_note
    @argument("paragraph", metavar="PARAGRAPH", help="Number of the paragraph, from 1, or its id.")
    @argument("arguments", metavar="NAME=VALUE", nargs="*", help="Values of its forms.")
    @submission_options
    def run_paragraph(self, values: argparse.Namespace) -> Value | CommandHandle | None:
        """Run one paragraph of a note in a session of its own; its last table becomes a DataFrame."""
        return self.run_definition(values, paragraph_definition(values, self.session.client))

    @action("svc_note form")
    @_the_note
    def form(self, values: argparse.Namespace) -> NoteFormPanel | PanelText:
        """Show a note's forms as widgets with a button that runs it; in a terminal as a text."""
        note = ask(lambda: _note(self.session.client(), values.note), "note")

        def panel() -> NoteFormPanel:
            return NoteFormPanel(note, lambda given, say: run_with(self.session, note.id, given, say))

        return self.open_panel(panel, lambda: form_text(note))


def paragraph_definition(values: argparse.Namespace, client: Callable[[], Client]) -> Definition:
    """Return the command that runs one paragraph."""
    if "=" in values.paragraph:
        raise SvcUsageError(f"svc_note run: PARAGRAPH comes before NAME=VALUE; {values.paragraph!r} names none")
    arguments = arguments_of(values.arguments)

    def fields() -> dict[str, Any]:
        note_id = note_called(client(), values.note).id
        return {"note_id": note_id, "language": "notebook", "arguments": arguments, "paragraph": values.paragraph}

    return Definition("SparkCommand", fields, last_table, Origin("note", target=values.note))


_ONE_BYTE = 1
"""A limit with which no table is loaded: only its first rows are shown."""


def run_with(
    session: Session, note_id: int, values: dict[str, Any], say: Callable[[str], None]
) -> list[tuple[str, str]]:
    """Run a note with values for its forms and report its progress; return its tables as HTML."""
    command = session.submit("SparkCommand", note_id=note_id, language="notebook", arguments=values)
    say(f"command {command.id} · running")
    command.wait()
    say(f"command {command.id} · {command.record.status}")
    return [
        (title, reading.value.head(_ROWS_SHOWN).to_html(index=False, border=0))
        for title, reading in tables_of(command, _ONE_BYTE)
    ]


def _note(client: Client, wanted: str) -> Any:
    return client.notes.get(note_called(client, wanted).id)


_several = several_outputs(
    "Assign the DataFrame of the last table to NAME; NUMBER=NAME assigns that of a table by its number, from 1."
)


class SparkRunMagics(SvcFamily):
    """The magic for runs of Spark notebooks."""

    @line_magic
    @argument("note", metavar="NOTE", help="Note to run: its id, or its location such as Common/reports/late.")
    @argument(
        "arguments",
        metavar="NAME=VALUE",
        nargs="*",
        help="Values of the note's forms: numbers, true, false or texts (default: the form's default).",
    )
    @submission_options_with(_several)
    def svc_spark_run(self, line: str) -> Value | CommandHandle | None:
        """Run a Spark notebook on its cluster; every table that it shows becomes a DataFrame.

        All are shown; the last one is the value of the cell. A paragraph that fails raises, and says which; an
        interrupt cancels the run. The results are saved in the note if you may change it.
        """
        values = parse(self.svc_spark_run, line)
        values.out, by_number = outputs_of(values.outs)
        if by_number and values.no_wait:
            raise SvcUsageError(
                "svc_spark_run: -o NUMBER=NAME is for a run that is waited for; --no-wait gives a handle"
            )
        definition = run_definition_of(values, self.session)
        return self.run_definition(values, definition, lambda command: self._show_others(command, by_number, values))

    def _show_others(self, command: Command, by_number: Mapping[int, str], values: argparse.Namespace) -> None:
        """Assign the tables of `-o`, show all but the last, and report what was saved in the note."""
        found = ask(lambda: tables_of(command, self.load_limit(values)), "tables")
        for number, name in by_number.items():
            if number > len(found):
                there = f"{len(found)} {plural('table', len(found))}"
                raise SvcMagicError(f"command {command.id} is done, but has no table {number} for -o; there is {there}")
            value = self.assign(name, found[number - 1][1])
            if is_kept(value):
                print(f"table {number} · {size_text(value)} · {name} · {kept_text(name)}")  # noqa: T201
        if values.quiet:
            return
        for number, (title, reading) in enumerate(found[:-1], start=1):
            rows = shape_of(reading.value)[0] or 0
            print(f"table {number} · {title} · {rows:,} {plural('row', rows)}")  # noqa: T201  a title
            self.show(reading, values)
        if len(found) > 1:
            print(f"table {len(found)} · {found[-1][0]}")  # noqa: T201  the title of the cell's value
        note = command.record.outputs.note if command.record.outputs is not None else None
        if note is not None and note.message:
            print(note.message)  # noqa: T201  what the run's owner has to know


def outputs_of(texts: Sequence[str]) -> tuple[str | None, dict[int, str]]:
    """Return the name for the last table, and the names by number for the others, as given by `-o`."""
    last: str | None = None
    by_number: dict[int, str] = {}
    for text in texts:
        number, equals, name = text.rpartition("=")
        check_output_name(name, "svc_spark_run")
        if not equals:
            if last is not None:
                raise SvcUsageError(f"svc_spark_run: -o {last} and -o {name}: there is one last table")
            last = name
        elif number.isdecimal() and int(number) > 0:
            by_number[int(number)] = name
        else:
            raise SvcUsageError(f"svc_spark_run: -o NUMBER=NAME takes the number of a table, from 1, not {number!r}")
    return last, by_number


def run_definition_of(values: argparse.Namespace, session: Session) -> Definition:
    """Return the command of a run."""

    def fields() -> dict[str, Any]:
        # An id also works with a service without folders.
        note_id = int(values.note) if is_id(values.note) else note_called(session.client(), values.note).id
        return {"note_id": note_id, "language": "notebook", "arguments": arguments}

    arguments = arguments_of(values.arguments)
    return Definition("SparkCommand", fields, last_table, Origin("note", target=values.note))


def last_table(command: Command, limit: int) -> Reading:
    """Read the last table of a run; without tables, its paragraphs and their status."""
    found = tables_of(command, limit)
    return found[-1][1] if found else Reading(paragraphs_frame(command))


def tables_of(command: Command, limit: int) -> list[tuple[str, Reading]]:
    """Return the tables of a run with their titles, typed if the service reports types; see `unchanged`."""
    if command.tables:
        return [
            (table.title or table.paragraph, unchanged(command.table(number), limit))
            for number, table in enumerate(command.tables, start=1)
        ]
    if command.record.outputs is not None:
        return []
    from svc_jupyter.client.commands.outputs import table_texts

    texts = table_texts(command.result().text())
    return [(f"table {number}", Reading(frame_of_table(text))) for number, text in enumerate(texts, start=1)]


def frame_of_table(text: str) -> pd.DataFrame:
    """Return tab-separated text with headers as a DataFrame."""
    return parsed_frame(text, "tsv")


def paragraphs_frame(command: Command) -> pd.DataFrame:
    """Return the paragraphs of a run without tables: number, title, language, status and seconds."""
    outputs = command.record.outputs
    rows = [] if outputs is None else outputs.paragraphs
    columns = ["paragraph", "title", "language", "status", "seconds"]
    return frame_of(columns, [(one.number, one.title, one.language, one.status, one.seconds) for one in rows])
