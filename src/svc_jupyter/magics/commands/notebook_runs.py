"""`%svc_notebook run`: a stored notebook, executed by the service."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.notebook_parameters import Argument, Parameter, Unreadable, parameters_in, problem_of
from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import submission_fields, submission_options_assigning
from svc_jupyter.magics.cells.cells import Context, Definition, SvcFamily
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import plain_reader
from svc_jupyter.magics.cells.running import Run, Value
from svc_jupyter.magics.display.errors import SvcServiceError, SvcUsageError
from svc_jupyter.magics.display.executed import executed_notebook
from svc_jupyter.magics.display.failures import Origin, SvcCommandFailed
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.display.status import Use
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    from svc_jupyter.client import Client, Command

_SCALARS = (str, int, float, bool)
_MACRO = re.compile(r"\$\w+\$")
"""In a text whose value is known when the command runs."""


class NotebookMagics(SvcFamily):
    """The magic for runs of stored notebooks."""

    @line_magic
    @argument("action", metavar="ACTION", choices=("run",), help="run: execute a notebook.")
    def svc_notebook(self, line: str) -> Any:
        """Execute a notebook of the service: `%svc_notebook run Users/ann@example.com/report.ipynb --arg region=EU`.

        `%svc_notebook run --help` lists the options; `%svc_notebooks` shows which notebooks there are.
        """
        return self.act("svc_notebook", line, "run")

    @action("svc_notebook run")
    @argument("path", metavar="PATH", help="Notebook to execute, such as Users/ann@example.com/report.ipynb.")
    @argument(
        "--arg",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="Parameter of the notebook, of the type that it has there; one that it does not declare is a number, "
        "true, false, or a text. A text in double quotes is never a number. Repeatable.",
    )
    @argument("--keep-source", action="store_true", help="Do not write the outputs into the stored notebook.")
    @argument("--open", action="store_true", help="Show the executed notebook below the result.")
    @submission_options_assigning("the executed notebook")
    def run_notebook(self, values: argparse.Namespace) -> Value | CommandHandle | None:
        """Execute a stored notebook in the service; its text result becomes a DataFrame of lines.

        That is the text of the last cell that shows any. -o has the notebook also when the run failed.
        """
        if values.no_wait and values.open:
            raise SvcUsageError("svc_notebook run: --open shows a notebook that was executed, --no-wait does not wait")
        definition = notebook_definition(values, None, Context(self.session, self.shell.user_ns))
        common = submission_fields(values, self.shell.user_ns, self.session.settings.default_label)
        progress = line_for(self.shell, quiet=values.quiet)

        def start() -> Command:
            return self.session.submit(definition.command_type, **common, **definition.fields())

        read, origin, limit = definition.read, definition.origin, self.load_limit(values)
        run = Run(start, read, origin, progress, limit, Use.of(values))
        if values.no_wait:
            handle = self.keep(values, CommandHandle(run.submitted(), self.shell, read, origin, limit))
            return None if values.quiet else handle
        try:
            outcome = run.to_value()
        except SvcCommandFailed:
            with suppress(SvcServiceError):  # the command's failure takes precedence
                self._keep_notebook(run.command, values)
            raise
        self._keep_notebook(outcome.command, values)
        if values.quiet:
            return None
        self.finish(progress, outcome, values)
        return outcome.value

    def _keep_notebook(self, command: Command | None, values: argparse.Namespace) -> None:
        """Fetch the executed notebook if `-o` or `--open` requests it."""
        if command is None or not (values.out or values.open):
            return
        notebook = ask(lambda: executed_notebook(command), "notebook")
        self.keep(values, notebook)
        if values.open and not values.quiet:
            self.shell.display_pub.publish(notebook._repr_mimebundle_())


def notebook_definition(values: argparse.Namespace, cell: str | None, context: Context) -> Definition:
    """Return the command of a `%svc_notebook run` line."""
    if cell:
        raise SvcUsageError("svc_notebook: a notebook has its own cells; there is no text below its line")
    given = texts_of(values.arg)

    def fields() -> dict[str, Any]:
        found: dict[str, Any] = {"path": values.path}
        if given:
            found["arguments"] = arguments_for(values.path, given, context.session.client())
        if values.keep_source:
            found["upload_to_source"] = False
        return found

    return Definition("JupyterNotebookCommand", fields, plain_reader, Origin("notebook", target=values.path))


def texts_of(options: list[str]) -> dict[str, str]:
    """Return the names and texts of `NAME=VALUE` options. Raises SvcUsageError."""
    texts: dict[str, str] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not (name.isascii() and name.isidentifier()):
            raise SvcUsageError(f"--arg takes NAME=VALUE with a name of letters, digits and _, not {option!r}")
        if name in texts:
            raise SvcUsageError(f"--arg {name} is given twice")
        texts[name] = text
    return texts


def arguments_of(options: list[str]) -> dict[str, Any]:
    """Return values by their form: JSON numbers, booleans and quoted strings; everything else is a string."""
    return {name: _scalar(text) for name, text in texts_of(options).items()}


def arguments_for(path: str, texts: Mapping[str, str], client: Client) -> dict[str, Any]:
    """Return the arguments of a stored notebook's run, with the types that it declares; others go by their form.

    Raises SvcUsageError for a text that is no value of the type. All go by their form where the notebook's cell cannot
    be read, which is printed, and where the service does not show the notebook: it may still run it.
    """
    from svc_jupyter.client import Forbidden, NotFound

    declared: dict[str, Parameter] = {}
    with suppress(Forbidden, NotFound):
        content = client.jupyter_contents.get(path).content
        try:
            found = parameters_in(content) if isinstance(content, dict) else None
        except Unreadable as error:
            found = None
            print(f"--arg goes by the form of its texts: the cell tagged parameters cannot be read ({error})")  # noqa: T201
        declared = {each.name: each for each in found or ()}
    return {name: _as_declared(text, declared.get(name), name) for name, text in texts.items()}


def _as_declared(text: str, parameter: Parameter | None, name: str) -> Argument:
    value = _scalar(text)
    if parameter is None or parameter.value is None:
        return value
    if type(value) is type(parameter.value) and problem_of(value) is None:
        return value
    if parameter.type == "str" or _MACRO.search(text):
        return text
    if text.startswith('"'):
        return value
    with suppress(ValueError, OverflowError):
        if (found := _scalar_of(parameter.type, text)) is not None and problem_of(found) is None:
            return found
    raise SvcUsageError(
        f"--arg {name}: {text!r} is not of the type {parameter.type}, which the notebook has there "
        f"({name} = {parameter.code}); a text in double quotes is passed as it is"
    )


def _scalar_of(kind: str | None, text: str) -> Argument | None:
    """Return the value of a type; None and ValueError for a text that is none, OverflowError for a large number."""
    if kind == "bool":
        return {"true": True, "false": False}.get(text.lower())
    with suppress(ValueError):
        return float(int(text)) if kind == "float" else int(text)
    return float(text)


def _scalar(text: str) -> Argument:
    try:
        value = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, _SCALARS) else text
