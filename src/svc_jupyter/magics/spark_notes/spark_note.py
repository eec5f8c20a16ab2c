"""`%svc_note`: one Spark notebook: what it says, one of its paragraphs run, its forms as widgets."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import help_of, split_action
from svc_jupyter.magics.arguments.decorators import argument, line_magic, magics_class, no_var_expand, with_options
from svc_jupyter.magics.arguments.options import out_option, parse, submission_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.cells.definitions import Definition
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.commands.notebook_runs import arguments_of
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.progress import in_kernel
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.spark_notes.spark_run import last_table, tables_of
from svc_jupyter.magics.workspace.note_answer import NoteAnswer
from svc_jupyter.magics.workspace.places import note_called
from svc_jupyter.widgets.notes.form import NoteFormPanel, NoteFormText

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Client

_the_note = argument("note", metavar="NOTE", help="The note's id, or its location such as Common/reports/late.")
_ROWS_SHOWN = 20


@magics_class
class SparkNoteMagics(SvcFamily):
    """The magic for one note."""

    @no_var_expand
    @with_options()
    @argument("action", metavar="ACTION", help="What to do.")
    @line_magic
    def svc_note(self, line: str) -> Any:
        """Work with a Spark notebook: `%svc_note run Common/reports/late 3`.

        show NOTE, run NOTE PARAGRAPH [NAME=VALUE …], form NOTE. Each has its own options: `%svc_note run --help`.
        """
        actions = self.actions["svc_note"]
        name, rest = split_action("svc_note", line, actions, "show")
        if text := help_of(actions[name], rest):
            return print(text)  # noqa: T201  the help is the output
        return actions[name](self, rest)

    @with_options("svc_note show")
    @_the_note
    @out_option("the note")
    def show_note(self, line: str) -> NoteAnswer:
        """Show a note: what it says, its forms, the cluster it is bound to."""
        values = parse(SparkNoteMagics.show_note, line)
        return self.keep(values, NoteAnswer(ask(lambda: _note(self.session.client(), values.note), "note")))

    @with_options("svc_note run")
    @_the_note
    @argument("paragraph", metavar="PARAGRAPH", help="Number of the paragraph, from 1, or its id.")
    @argument("arguments", metavar="NAME=VALUE", nargs="*", help="Values of its forms.")
    @submission_options
    def run_paragraph(self, line: str) -> pd.DataFrame | CommandHandle | None:
        """Run one paragraph of a note in a session of its own; its last table becomes a DataFrame."""
        values = parse(SparkNoteMagics.run_paragraph, line)
        return self.run_definition(values, paragraph_definition(values, self.session.client))

    @with_options("svc_note form")
    @_the_note
    def form(self, line: str) -> NoteFormPanel | NoteFormText:
        """Show a note's forms as widgets with a button that runs it; in a terminal as a text."""
        values = parse(SparkNoteMagics.form, line)
        note = ask(lambda: _note(self.session.client(), values.note), "note")
        if not in_kernel(self.shell):
            return NoteFormText(note)
        panel = NoteFormPanel(note, lambda given, say: run_with(self.session.client(), note.id, given, say))
        self.session.at_close(panel.close)
        return panel


SparkNoteMagics.actions = {
    "svc_note": {
        "show": SparkNoteMagics.show_note,
        "run": SparkNoteMagics.run_paragraph,
        "form": SparkNoteMagics.form,
    }
}


def paragraph_definition(values: argparse.Namespace, client: Callable[[], Client]) -> Definition:
    """Return the command that runs one paragraph."""
    if "=" in values.paragraph:
        raise SvcUsageError(f"svc_note run: PARAGRAPH comes before NAME=VALUE; {values.paragraph!r} names none")
    arguments = arguments_of(values.arguments)

    def fields() -> dict[str, Any]:
        note_id = note_called(client(), values.note).id
        return {"note_id": note_id, "language": "notebook", "arguments": arguments, "paragraph": values.paragraph}

    return Definition("SparkCommand", fields, last_table, Origin("note", target=values.note))


def run_with(client: Client, note_id: int, values: dict[str, Any], say: Callable[[str], None]) -> list[tuple[str, str]]:
    """Run a note with values of its forms to its end, telling how far it is; return its tables as HTML."""
    command = client.commands.submit("SparkCommand", note_id=note_id, language="notebook", arguments=values)
    say(f"command {command.id} · running")
    command.wait()
    say(f"command {command.id} · {command.record.status}")
    return [(title, frame.head(_ROWS_SHOWN).to_html(index=False, border=0)) for title, frame in tables_of(command)]


def _note(client: Client, wanted: str) -> Any:
    return client.notes.get(note_called(client, wanted).id)
