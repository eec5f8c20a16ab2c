"""Cells that contain other cells: `%%svc_composite` runs them one after the other, `%%svc_schedule` at their times.

A section begins with the first line of an ordinary cell, such as `%%svc_db --tap flights`, and ends at the next one. So
one line above a working cell schedules it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svc_jupyter.magics.arguments.decorators import argument, cell_magic
from svc_jupyter.magics.arguments.options import (
    MagicMethod,
    continued,
    nearest,
    parse,
    parser_of,
    submission_fields,
    submission_options,
)
from svc_jupyter.magics.cells.cells import Context, Define, Definition, SvcFamily
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import sub_reader
from svc_jupyter.magics.cells.running import Value
from svc_jupyter.magics.commands.hadoop import HadoopMagics, hadoop_definition
from svc_jupyter.magics.commands.notebook_runs import NotebookMagics, notebook_definition
from svc_jupyter.magics.commands.pig import PigMagics, pig_definition
from svc_jupyter.magics.commands.queries import (
    QueryMagics,
    db_definition,
    hive_definition,
    presto_definition,
    sql_definition,
)
from svc_jupyter.magics.commands.shell import ShellMagics, shell_definition
from svc_jupyter.magics.commands.spark import SparkMagics, spark_definition
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.formats import LINES
from svc_jupyter.magics.session.session import Session

_FIRST_LINE = re.compile(r"^%{1,2}(svc_\w+)(?:[ \t]+(.*))?$")
_OF_A_RUNNING_CELL = {
    "out": "-o",
    "outs": "-o",
    "rows": "-n",
    "no_wait": "--no-wait",
    "quiet": "--quiet",
    "load_all": "--load-all",
    "open": "--open",
}


@dataclass(frozen=True)
class _Kind:
    magic: MagicMethod
    define: Define


KINDS: Mapping[str, _Kind] = {
    "svc_shell": _Kind(ShellMagics.svc_shell, shell_definition),
    "svc_db": _Kind(QueryMagics.svc_db, db_definition),
    "svc_pig": _Kind(PigMagics.svc_pig, pig_definition),
    "svc_hive": _Kind(QueryMagics.svc_hive, hive_definition),
    "svc_presto": _Kind(QueryMagics.svc_presto, presto_definition),
    "svc_hadoop": _Kind(HadoopMagics.svc_hadoop, hadoop_definition),
    "svc_spark": _Kind(SparkMagics.svc_spark, spark_definition),
    "svc_sql": _Kind(QueryMagics.svc_sql, sql_definition),
    "svc_notebook": _Kind(NotebookMagics.run_notebook, notebook_definition),
}
"""The magics that can begin a section."""


@dataclass(frozen=True)
class Section:
    """A cell within a cell: its command, and the common parameters of its first line."""

    magic: str
    values: argparse.Namespace
    definition: Definition
    common: Mapping[str, Any]

    def body(self) -> dict[str, Any]:
        """Return the section as the body of a submission; may ask the service, so call it outside the cell's thread."""
        return {
            "command_type": self.definition.command_type,
            **self.definition.fields(),
            **self.common,
        }


def sections_of(magic: str, cell: str | None, variables: Mapping[str, Any], session: Session) -> list[Section]:
    """Return the sections of a cell; `variables` is the notebook's namespace, for `--var`.

    Raises SvcUsageError for a cell without a section, with text before the first, or with a misplaced option.
    """
    sections = []
    for number, (name, line, body) in enumerate(split(magic, cell or ""), start=1):
        try:
            sections.append(_section(name, line, body, variables, session))
        except SvcUsageError as error:
            raise SvcUsageError(f"{magic}, command {number}: {error}") from None
    return sections


def split(magic: str, cell: str) -> list[tuple[str, str, str]]:
    """Return the name, the options and the text of each section."""
    found: list[tuple[str, str, list[str]]] = []
    for line in cell.split("\n"):
        begins = _FIRST_LINE.match(line.rstrip())
        if begins:
            found.append((begins[1], begins[2] or "", []))
        elif found:
            found[-1][2].append(line)
        elif line.strip():
            break
    if not found:
        forms = ", ".join(f"%%{name}" for name in KINDS)
        raise SvcUsageError(f"{magic}: the cell must begin with the line of a command, one of {forms}")
    return [(name, *_whole(line, text)) for name, line, text in found]


def _whole(line: str, text: list[str]) -> tuple[str, str]:
    line, rest = continued(line, "\n".join(text))
    return line, rest or ""


def _section(name: str, line: str, body: str, variables: Mapping[str, Any], session: Session) -> Section:
    kind = KINDS.get(name)
    if kind is None:
        known = list(KINDS)
        raise SvcUsageError(f"%{name} cannot stand here.{nearest(name, known)} Commands: {', '.join(known)}")
    if name == "svc_notebook":
        action, _, line = line.strip().partition(" ")
        if action != "run":
            raise SvcUsageError("%svc_notebook: only `%svc_notebook run PATH` can stand here")
    values = parse(kind.magic, line)
    parser = parser_of(kind.magic)
    for dest, spelling in _OF_A_RUNNING_CELL.items():
        if hasattr(values, dest) and getattr(values, dest) != parser.get_default(dest):
            raise SvcUsageError(f"%{name}: {spelling} is for a cell that runs by itself; leave it out here")
    definition = kind.define(values, body if body.strip() else None, Context(session, variables))
    return Section(name, values, definition, submission_fields(values, variables, None))


class CompositeMagics(SvcFamily):
    """The magic for composite commands."""

    @cell_magic
    @argument("--result", metavar="K", type=int, help="Number, from 1, of the command whose result is the DataFrame.")
    @submission_options
    def svc_composite(self, line: str, cell: str) -> Value | CommandHandle | None:
        """Run several commands as one; each starts with the first line of a cell, `%%svc_db …` or `%%svc_shell …`.

        They run in order, until one fails. The DataFrame is the result of the last one that has rows, or of --result K.
        An interrupt cancels the one that runs.
        """
        line, rest = continued(line, cell)
        values = parse(self.svc_composite, line)
        sections = sections_of("svc_composite", rest, self.shell.user_ns, self.session)
        if values.result is not None and not 1 <= values.result <= len(sections):
            raise SvcUsageError(f"svc_composite: --result {values.result}: the cell has {len(sections)} commands")
        values.result, values.format, values.types = _output(values.result, sections)
        return self.run_definition(values, composite_definition(values, sections))


def composite_definition(values: argparse.Namespace, sections: list[Section]) -> Definition:
    """Return the composite command of several sections."""

    def refused() -> None:
        for section in sections:
            section.definition.refused()

    return Definition(
        "CompositeCommand",
        lambda: {"sub_commands": [section.body() for section in sections]},
        sub_reader(values.result, values.format, values.types),
        Origin("command", parts=tuple(section.definition.origin for section in sections)),
        refused,
    )


def _output(wanted: int | None, sections: list[Section]) -> tuple[int | None, str, str | None]:
    """Return the number of the command that has the result, its format and types: the last if it names a format."""
    formats = [getattr(section.values, "format", LINES) for section in sections]
    number = len(formats) if wanted is None and formats[-1] != LINES else wanted
    if not number:
        return None, LINES, None
    return number, formats[number - 1], getattr(sections[number - 1].values, "types", None)
