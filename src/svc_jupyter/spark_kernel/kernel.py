"""The kernel: an IPython kernel whose cells run on the cluster unless they say `%%local`."""

from __future__ import annotations

from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.zmqshell import ZMQInteractiveShell
from traitlets import Type

from svc_jupyter.magics import load
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.spark_kernel.cells import Cell, Runner, cell_of
from svc_jupyter.spark_kernel.conversation import Conversation
from svc_jupyter.spark_kernel.front_end import listen, reply_metadata
from svc_jupyter.spark_kernel.sql_completion import SqlCompletion

_KINDS = "_jupyter_types_experimental"
"""Where ipykernel tells front ends the kinds of matches."""


class SparkShell(ZMQInteractiveShell):
    """Sends cells to the session. A front end's silent code runs locally: it is about the local kernel."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)  # type: ignore[no-untyped-call]
        session = load(self).session
        self.conversation = Conversation(self, session)
        self.sql_completion = SqlCompletion(session, self.conversation)
        self.is_silent = False

    def cell_of(self, text: str) -> Cell:
        """Return the parts of a cell. Raises SvcUsageError."""
        magics = self.magics_manager.magics
        return cell_of(text, {*magics["line"], *magics["cell"]})

    def transform_cell(self, raw_cell: str) -> str:
        """Return the Python of a cell: its own for `%%local`, else a call that runs it in the session."""
        if self.is_silent or not raw_cell.strip():
            return str(super().transform_cell(raw_cell))  # type: ignore[no-untyped-call]
        try:
            cell = self.cell_of(raw_cell)
        except SvcUsageError:
            cell = None  # running it says why
        if cell is not None and cell.runner is Runner.LOCAL:
            return str(super().transform_cell(cell.code))  # type: ignore[no-untyped-call]
        return f"get_ipython().run_in_session({raw_cell!r})\n"

    def run_in_session(self, text: str) -> Any:
        """Run a cell in the session and return its value."""
        return self.conversation.run(self.cell_of(text))


class SparkKernel(IPythonKernel):
    """The kernel Spark (svc)."""

    shell_class = Type(SparkShell)
    implementation = "svc-spark"
    banner = "Spark (svc): cells run in a session on a Spark cluster. %%help says more."

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)  # type: ignore[no-untyped-call]
        listen(self.comm_manager, self._spark_shell.conversation)

    def finish_metadata(self, parent: Any, metadata: Any, reply_content: Any) -> Any:
        """Add what a front end with a toolbar shows."""
        metadata = super().finish_metadata(parent, metadata, reply_content)  # type: ignore[no-untyped-call]
        return {**metadata, **reply_metadata(self._spark_shell.conversation)}

    async def do_execute(self, code: str, silent: bool, *given: Any, **named: Any) -> Any:
        """Run a cell."""
        self._spark_shell.is_silent = silent
        try:
            return await super().do_execute(code, silent, *given, **named)  # type: ignore[no-untyped-call]
        finally:
            self._spark_shell.is_silent = False

    def do_complete(self, code: str, cursor_pos: int | None) -> Any:
        """Complete from the session, or from the local shell for `%%local` and the first line of a magic."""
        cursor = len(code) if cursor_pos is None else cursor_pos
        cell = self._session_cell(code, cursor)
        if cell is None:
            return super().do_complete(code, cursor_pos)  # type: ignore[no-untyped-call]
        shift = len(code) - len(cell.code)
        kinds: list[dict[str, Any]] = []
        if cell.runner is Runner.SQL:
            start, choices = self._spark_shell.sql_completion.complete(cell, cursor - shift)
            matches = [text for text, _ in choices]
            kinds = [{"start": start + shift, "end": cursor, "text": text, "type": kind} for text, kind in choices]
        else:
            start, matches = self._spark_shell.conversation.complete(cell, cursor - shift)
        return {
            "matches": matches,
            "cursor_start": start + shift,
            "cursor_end": cursor,
            "metadata": {_KINDS: kinds} if kinds else {},
            "status": "ok",
        }

    def do_inspect(self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()) -> Any:
        """Describe a name of the session, or of the local shell."""
        cell = self._session_cell(code, cursor_pos)
        if cell is None:
            return super().do_inspect(code, cursor_pos, detail_level, omit_sections)  # type: ignore[no-untyped-call]
        text = self._spark_shell.conversation.inspect(cell, cursor_pos - len(code) + len(cell.code))
        data = {} if text is None else {"text/plain": text}
        return {"status": "ok", "found": text is not None, "data": data, "metadata": {}}

    def do_is_complete(self, code: str) -> Any:
        """Say whether a console may run the code: Python as IPython does, other languages after an empty line."""
        cell = self._session_cell(code, len(code))
        if cell is None or cell.runner is Runner.PYTHON:
            return super().do_is_complete(code if cell is None else cell.code)  # type: ignore[no-untyped-call]
        is_over = "\n" not in code.strip() or code.endswith("\n")
        return {"status": "complete"} if is_over else {"status": "incomplete", "indent": ""}

    def do_shutdown(self, restart: bool) -> Any:
        """End the session with the kernel."""
        self._spark_shell.conversation.end()
        return super().do_shutdown(restart)  # type: ignore[no-untyped-call]

    @property
    def _spark_shell(self) -> SparkShell:
        assert isinstance(self.shell, SparkShell)
        return self.shell

    def _session_cell(self, code: str, cursor: int) -> Cell | None:
        """Return the cell if the cursor is in a program of the session."""
        try:
            cell = self._spark_shell.cell_of(code)
        except SvcUsageError:
            return None
        header = len(code) - len(cell.code.lstrip("\n"))
        in_magic = code.lstrip().startswith("%") and cursor < header
        return None if cell.runner is Runner.LOCAL or in_magic else cell
