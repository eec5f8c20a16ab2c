"""`%%svc_composite`: several commands in one cell, run one after the other as one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from svc_jupyter.magics.arguments.decorators import argument, cell_magic
from svc_jupyter.magics.arguments.options import continued, parse, submission_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.cells.definitions import Definition
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import sub_reader
from svc_jupyter.magics.cells.running import Reader
from svc_jupyter.magics.commands.sections import Section, sections_of
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.formats import LINES

if TYPE_CHECKING:
    import pandas as pd


class CompositeMagics(SvcFamily):
    """The magic for composite commands."""

    @cell_magic
    @argument("--result", metavar="K", type=int, help="Number, from 1, of the command whose result is the DataFrame.")
    @submission_options
    def svc_composite(self, line: str, cell: str) -> pd.DataFrame | CommandHandle | None:
        """Run several commands as one: each begins with the first line of its own cell, `%%svc_db …`, `%%svc_shell …`.

        They run in order; the first that fails ends it, and nothing after it begins. The DataFrame is the result of the
        last one that has rows, or of --result K. An interrupt cancels the one that runs.
        """
        line, rest = continued(line, cell)
        values = parse(self.svc_composite, line)
        sections = sections_of("svc_composite", rest, self.shell.user_ns, self.session)
        if values.result is not None and not 1 <= values.result <= len(sections):
            raise SvcUsageError(f"svc_composite: --result {values.result}: the cell has {len(sections)} commands")
        return self.run_definition(values, composite_definition(values, sections))


def composite_definition(values: argparse.Namespace, sections: list[Section]) -> Definition:
    """Return the composite command of several sections."""

    def refused() -> None:
        for section in sections:
            section.definition.refused()

    return Definition(
        "CompositeCommand",
        lambda: {"sub_commands": [section.body() for section in sections]},
        _reader(values.result, [getattr(section.values, "format", LINES) for section in sections]),
        Origin("command", parts=tuple(section.definition.origin for section in sections)),
        refused,
    )


def _reader(wanted: int | None, formats: list[str]) -> Reader:
    """Return the reader of the result: the last command's if it names an output format."""
    number = len(formats) if wanted is None and formats[-1] != LINES else wanted
    return sub_reader(number, formats[number - 1] if number else LINES)
