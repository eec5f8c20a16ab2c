"""A kernel's session on a cluster: one cell after the other, and the questions of an editor in between."""

from __future__ import annotations

import shlex
import sys
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from svc_jupyter.magics.cells.cells import result_of
from svc_jupyter.magics.cells.readers import plain_reader, unchanged
from svc_jupyter.magics.cells.running import Run
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.progress import Line, done_line, in_kernel, line_for
from svc_jupyter.magics.display.rendering import is_kept, kept_text, limit_display, shape_of, size_text
from svc_jupyter.magics.display.status import STATUS, Use, status_data
from svc_jupyter.magics.session.session import Background, Session, ask
from svc_jupyter.spark_kernel.cells import IN_SESSION, LANGUAGES, Cell, Runner, with_value
from svc_jupyter.spark_kernel.clusters import label_for, note_of_notebook
from svc_jupyter.spark_kernel.forms import Forms
from svc_jupyter.spark_kernel.outputs import Outputs
from svc_jupyter.spark_kernel.sending import program_for

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from svc_jupyter.api.sessions import Completions
    from svc_jupyter.client import Command

T = TypeVar("T")
ANSWER_SECONDS = 0.6
"""How long an editor's question may take; the session itself gives up after half of it."""
_END_SECONDS = 3.0
_GONE = "The session has been started again: the variables of earlier cells are gone.\n"
HELP = f"""\
The cells of this notebook run in a session on a Spark cluster, which `spark` and `sc` stand for.

The first line names the language: {LANGUAGES}.
%sql(limit=5000)        at most 5,000 rows of a table instead of 1,000
%%sql -o NAME           the whole table as the DataFrame NAME of the local kernel
%%pyspark -o NAME       the table at the end of the cell, or else the session's variable NAME, as a DataFrame
%%local                 run the cell in the local kernel, an IPython with all %svc_ magics
%%send NAME             give the local DataFrame, text or number NAME to the session
%%cluster NAME          run the next cells on another cluster; alone, show the cluster
%%forms NAME=VALUE      values of the forms ${{NAME=default}} in the cells; alone, show them
%%help                  this text

An interrupt cancels the cell. A restart of the kernel begins a new session. Every cell is a command in the history.
"""


class Conversation:
    """Runs cells in a session of its own."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        self._shell = shell
        self._session = session
        self._name = f"kernel-{uuid.uuid4().hex}"
        self.label: str | None = None
        """The label of the cluster; None until the first cell that needs one."""
        self.forms = Forms()
        self._last: Command | None = None
        self._key: str | None = None

    def run(self, cell: Cell) -> Any:
        """Run a cell; return its value, a DataFrame where it has a table. Raises what cells raise."""
        match cell.runner:
            case Runner.MARKDOWN:
                self._show(cell)
            case Runner.HELP:
                print(HELP, end="")  # noqa: T201  the help is the output
            case Runner.CLUSTER:
                self._choose(cell.code.strip())
            case Runner.FORMS:
                self._fill_in(cell.code)
            case Runner.SEND:
                self._send(cell.code.strip())
            case Runner.SHELL:
                return self._run_shell(cell)
            case _:
                return self._run(cell)
        return None

    def complete(self, cell: Cell, cursor: int) -> tuple[int, list[str]]:
        """Return where in the cell's code what the matches at a cursor replace begins, and the matches."""
        asking = self.ask_session(cell, cursor)
        found = asking.outcome() if asking is not None and asking.wait(ANSWER_SECONDS) else None
        return (cursor, []) if found is None else (found.start, found.matches)

    def ask_session(self, cell: Cell, cursor: int) -> Background[Completions | None] | None:
        """Ask the session for matches, which are None where it has no answer; None without a session."""
        command = self._last
        if command is None or cell.runner not in IN_SESSION:
            return None
        return _asking(lambda: command.complete(cell.code, cursor, cell.runner.value))

    def inspect(self, cell: Cell, cursor: int) -> str | None:
        """Return the description of the name at the cursor; None without an answer."""
        command = self._last
        if command is None or cell.runner not in IN_SESSION:
            return None
        found = _in_time(lambda: command.inspect(cell.code, cursor, cell.runner.value))
        return None if found is None else found.text

    def end(self) -> None:
        """End the session on the cluster; without an answer it ends by itself once it has been idle for long."""
        command, self._last, self._key = self._last, None, None
        if command is not None:
            Background(command.end_session, "session").start().wait(_END_SECONDS)

    def move_to(self, label: str) -> None:
        """Run the next cells on the cluster with this label; on another one than now in a new session."""
        if label != self.label:
            self.end()
            self.label = label

    def _run(self, cell: Cell) -> Any:
        fields: dict[str, Any] = {
            "program": with_value(cell),
            "language": cell.runner.value,
            "app_id": self._name,
            "cell": {"forms": self.forms.of(cell.code), "limit": cell.limit},
        }
        outputs: list[Outputs] = []

        def start() -> Command:
            command = self._session.submit("SparkCommand", label=self._cluster(), **fields)
            self._last = command
            outputs.append(Outputs(command, self._shell, self._see_session))
            return command

        line = line_for(self._shell, quiet=cell.quiet)
        run = Run(start, plain_reader, Origin("cell", cell.code), line)
        try:
            run.to_end()
        finally:
            for one in outputs:
                one.finish()
        command = outputs[0]._command
        if not command.has_typed_results:
            if cell.out is not None:
                raise SvcMagicError(f"command {command.id} is done, but its value is no table for -o {cell.out}")
            if not outputs[0].are_known:
                print(ask(lambda: command.result().text(), "result"), end="")  # noqa: T201
            _finish(line, run, [])
            return None
        return self._table(cell, command, run, line)

    def _table(self, cell: Cell, command: Command, run: Run, line: Line) -> Any:
        """Return the table of a cell, or assign it to the variable of `-o`."""
        limit = self._session.settings.load_limit
        result = command.result()
        value = ask(lambda: unchanged(result, limit), "result").value
        self._session.remember(value, result, is_last=True)
        shown = replace(result_of(result), name=cell.out)
        limit_display(value, None, self._session.settings.rows_shown, self._shell, shown)
        parts = [size_text(value)]
        if cell.limit is not None and shape_of(value)[0] == cell.limit:
            parts.append(f"the first {cell.limit:,} at most: (limit=N) behind the language, or -o NAME")
        if cell.out is not None:
            parts.append(cell.out)
            self._shell.user_ns[cell.out] = value
        if is_kept(value):
            parts.append(kept_text(cell.out, in_grid=in_kernel(self._shell), option=""))
        _finish(line, run, parts, shape=shape_of(value), name=cell.out)
        return None if cell.out is not None or cell.quiet else value

    def _show(self, cell: Cell) -> None:
        from svc_jupyter.forms.filling import filled_markdown, filled_text
        from svc_jupyter.forms.values import FormProblem, FormValues

        text, values = cell.code.strip("\n"), FormValues(self.forms.of(cell.code))
        try:
            markdown, plain = filled_markdown(text, values), filled_text(text, values)
        except FormProblem as problem:
            raise SvcUsageError(str(problem)) from None
        self._shell.display_pub.publish({"text/markdown": markdown, "text/plain": plain})

    def _run_shell(self, cell: Cell) -> None:
        line = line_for(self._shell, quiet=cell.quiet)
        run = Run(
            lambda: self._session.submit("ShellCommand", inline=cell.code, cell={"forms": self.forms.of(cell.code)}),
            plain_reader,
            Origin("script", cell.code, is_shell=True),
            line,
        )
        run.to_end()
        command = run.command
        assert command is not None
        sys.stdout.write(ask(lambda: command.result().text(), "result"))
        _finish(line, run, [])

    def _send(self, name: str) -> None:
        if not name.isidentifier():
            raise SvcUsageError("%%send takes the name of a variable of the local kernel, as in %%send flights")
        if name not in self._shell.user_ns:
            raise SvcUsageError(f"%%send: the local kernel has no variable {name}. Make it in a cell with %%local")
        self._run(Cell(Runner.PYTHON, program_for(name, self._shell.user_ns[name])))

    def _choose(self, name: str) -> None:
        if name:
            known = ask(lambda: self._session.client().clusters.get(name), "cluster")
            self.end()
            self.label = name
            print(f"cluster {name} · {known.state}")  # noqa: T201
        else:
            print(f"cluster {ask(self._cluster, 'cluster')}")  # noqa: T201

    def _cluster(self) -> str:
        if self.label is None:
            default = self._session.settings.default_label
            self.label = label_for(self._session.client(), note_of_notebook(), default)
        return self.label

    def _fill_in(self, text: str) -> None:
        typed: dict[str, str] = {}
        for word in shlex.split(text):
            name, equals, value = word.partition("=")
            if not equals or not name:
                raise SvcUsageError(f"%%forms takes NAME=VALUE, not {word!r}")
            typed[name] = value
        self.forms.type(typed)
        for name, value in self.forms.shown().items():
            print(f"{name} = {value}")  # noqa: T201

    def _see_session(self, key: str) -> None:
        if self._key is not None and key != self._key:
            sys.stderr.write(_GONE)
            sys.stderr.flush()
        self._key = key


def _finish(
    line: Line, run: Run, parts: list[str], *, shape: tuple[int | None, int] | None = None, name: str | None = None
) -> None:
    """Write the last line of a cell, from which JupyterLab opens the command and its log."""
    assert run.command is not None
    record, seconds = run.command.record, run.seconds
    data = status_data(record, "done", seconds, shape=shape, use=Use(name))
    line.finish(done_line(record.id, seconds, parts), {STATUS: data}, run.log)


def _in_time(call: Callable[[], T]) -> T | None:
    """Return the answer to an editor's question, or None when it takes long or cannot be had."""
    asking = _asking(call)
    return asking.outcome() if asking.wait(ANSWER_SECONDS) else None


def _asking(call: Callable[[], T]) -> Background[T | None]:
    """Begin to ask an editor's question; the outcome is None when there is no answer."""
    from svc_jupyter.client.errors import SvcError

    def answer() -> T | None:
        try:
            return call()
        except SvcError:
            return None

    return Background(answer, "editor").start()
