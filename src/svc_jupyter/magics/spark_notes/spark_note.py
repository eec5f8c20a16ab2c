"""`%svc_note`: one Spark notebook: show it, run one of its paragraphs, show its forms as widgets."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import out_option, submission_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.cells.definitions import Definition
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.commands.notebook_runs import arguments_of
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.spark_notes.spark_run import last_table, tables_of
from svc_jupyter.magics.workspace.note_answer import NoteAnswer
from svc_jupyter.magics.workspace.places import note_called
from svc_jupyter.widgets.notes.form import NoteFormPanel, form_text
from svc_jupyter.widgets.panels.frame import PanelText

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Client

_the_note = argument("note", metavar="NOTE", help="The note's id, or its location such as Common/reports/late.")
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
        """Show a note: what it says, its forms, the cluster it is bound to."""
        return self.keep(values, NoteAnswer(ask(lambda: _note(self.session.client(), values.note), "note")))

    @action("svc_note run")
    @_the_note
    @argument("paragraph", metavar="PARAGRAPH", help="Number of the paragraph, from 1, or its id.")
    @argument("arguments", metavar="NAME=VALUE", nargs="*", help="Values of its forms.")
    @submission_options
    def run_paragraph(self, values: argparse.Namespace) -> pd.DataFrame | CommandHandle | None:
        """Run one paragraph of a note in a session of its own; its last table becomes a DataFrame."""
        return self.run_definition(values, paragraph_definition(values, self.session.client))

    @action("svc_note form")
    @_the_note
    def form(self, values: argparse.Namespace) -> NoteFormPanel | PanelText:
        """Show a note's forms as widgets with a button that runs it; in a terminal as a text."""
        note = ask(lambda: _note(self.session.client(), values.note), "note")

        def panel() -> NoteFormPanel:
            return NoteFormPanel(note, lambda given, say: run_with(self.session.client(), note.id, given, say))

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


def run_with(client: Client, note_id: int, values: dict[str, Any], say: Callable[[str], None]) -> list[tuple[str, str]]:
    """Run a note with values for its forms and report its progress; return its tables as HTML."""
    command = client.commands.submit("SparkCommand", note_id=note_id, language="notebook", arguments=values)
    say(f"command {command.id} · running")
    command.wait()
    say(f"command {command.id} · {command.record.status}")
    return [(title, frame.head(_ROWS_SHOWN).to_html(index=False, border=0)) for title, frame in tables_of(command)]


def _note(client: Client, wanted: str) -> Any:
    return client.notes.get(note_called(client, wanted).id)
