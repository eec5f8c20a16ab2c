"""Runs the cells of a notebook in its kernel, one after the other, and collects their outputs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbclient.client import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode

from svc_jupyter.service.kinds.notebook.failures import RunFailure, ShownWarning, guard_code, warning_in
from svc_jupyter.service.kinds.notebook.kernel_guard import WARNING
from svc_jupyter.service.kinds.notebook.kernels import LARGEST_MESSAGE, Kernel
from svc_jupyter.service.kinds.notebook.outputs import (
    CELL_LIMIT,
    OVERHEAD,
    Budget,
    StreamText,
    display_text,
    fits,
    size_of,
)
from svc_jupyter.terminal_text import plain

_QUIET_SECONDS = 60.0
"""A kernel that has replied and is then silent for this long has lost the message that ends the cell."""
_LAST_WORDS_SECONDS = 0.5
"""How long to wait for messages that a kernel sent before it ended."""
_SEARCHED = 1 << 16
"""Characters of a cell's stderr to search for a warning, where the kernel does not report it."""
_LOST = (
    f"the kernel's output was lost: the cell put out more than {LARGEST_MESSAGE // 2**20} MB in one piece, or more at "
    "once than the kernel keeps; have the cell put out less, or write it to a file"
)
_DISPLAYS = ("display_data", "update_display_data", "execute_result")
WriteLog = Callable[[str], None]
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CellEnd:
    """How a cell ended."""

    error: Message | None = None
    """`ename`, `evalue` and `traceback` when it raised."""
    warning: ShownWarning | None = None
    """The first warning that the cell showed."""
    kernel_end: str | None = None
    """How the kernel ended, if it ended while the cell ran."""
    asks_exit: bool = False
    """Whether the cell asked the front end to end the kernel, by `ask_exit` of Jupyter's protocol."""


class Cells(NotebookClient):
    """The cells of one run. nbclient turns the kernel's messages into outputs, widgets and display updates."""

    def __init__(self, notebook: NotebookNode, kernel: Kernel, write_log: WriteLog, budget: Budget) -> None:
        super().__init__(notebook, record_timing=False)
        self.kc = kernel.client
        self._kernel = kernel
        self._write_log = write_log
        self._budget = budget
        self._stream: StreamText | None = None
        self._displays: dict[str, int] = {}
        self._reports_warnings = False
        self._warning: ShownWarning | None = None
        self._stderr = ""
        self._last_message = 0.0

    async def guard(self) -> None:
        """Install the guard in a Python kernel; in others a warning is recognised by its form on stderr."""
        request = self._kernel.client.execute(
            guard_code(CELL_LIMIT), silent=True, store_history=False, allow_stdin=False
        )
        reply = await self._reply_to(request)
        self._reports_warnings = reply["status"] == "ok"

    async def run(self, index: int) -> CellEnd:
        """Run the code cell at `index`. Raises `RunFailure` when its output cannot be received."""
        cell = self.nb.cells[index]
        self._begin()
        request = self._kernel.client.execute(cell.source, allow_stdin=False)
        replying = asyncio.ensure_future(self._reply_to(request))
        listening = asyncio.ensure_future(self._listen_to(request, cell, index))
        dying = asyncio.ensure_future(self._kernel.ended())
        try:
            while not (replying.done() or dying.done()):
                pending = {task for task in (replying, listening, dying) if not task.done()}
                await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if listening.done():
                    listening.result()
            if not replying.done():
                await self._hear_out(listening, _LAST_WORDS_SECONDS)
                return CellEnd(kernel_end=dying.result())
            if not await self._hear_out(listening, _QUIET_SECONDS):
                raise RunFailure(_LOST)
            return self._end(replying.result())
        finally:
            for task in (replying, listening, dying):
                task.cancel()
            self._close_stream()

    def settle(self) -> None:
        """Update the outputs of the running cell and the state of the widgets, before they are saved."""
        if self._stream is not None:
            self._stream.settle()
        self.set_widgets_metadata()

    def process_message(self, msg: Message, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Process a message of the kernel: displays become outputs of the cell, text is logged."""
        kind, content = msg["msg_type"], msg["content"]
        if kind == WARNING:
            self._warning = self._warning or ShownWarning(content["text"], content["line"])
            return None
        if kind == "stream":
            return self._take_text(msg, cell, cell_index)
        if kind in _DISPLAYS and not self._take_display(kind, content):
            return None
        if kind == "error":
            self._close_stream()
            self._write_log("\n".join(map(plain, content["traceback"])) + "\n")
        elif kind == "clear_output":
            self._close_stream()
            if not content.get("wait"):
                self._budget.clear()
        return super().process_message(msg, cell, cell_index)

    def _begin(self) -> None:
        self._warning, self._stderr = None, ""
        self.clear_before_next_output = False
        self._displays.clear()
        self._budget.next_cell()

    def _end(self, reply: Message) -> CellEnd:
        warning = self._warning
        if warning is None and not self._reports_warnings:
            warning = warning_in(self._stderr)
        if reply["status"] == "error":
            return CellEnd(error=reply, warning=warning)
        asked = {part.get("source") for part in reply.get("payload") or ()}
        return CellEnd(warning=warning, asks_exit="ask_exit" in asked)

    async def _reply_to(self, request: str) -> Message:
        while True:
            message = await self._kernel.client.get_shell_msg()
            if message["parent_header"].get("msg_id") == request:
                content: Message = message["content"]
                return content

    async def _listen_to(self, request: str, cell: NotebookNode, index: int) -> None:
        while True:
            message = await self._kernel.client.get_iopub_msg()
            self._last_message = time.monotonic()
            if message["parent_header"].get("msg_id") == request:
                try:
                    self.process_message(message, cell, index)
                except CellExecutionComplete:
                    return

    async def _hear_out(self, listening: asyncio.Task[None], quiet_seconds: float) -> bool:
        """Receive pending messages; return whether the cell's last message came before a period of silence."""
        self._last_message = time.monotonic()
        while not listening.done():
            left = self._last_message + quiet_seconds - time.monotonic()
            if left <= 0:
                return False
            await asyncio.wait({listening}, timeout=left)
        listening.result()
        return True

    def _take_text(self, msg: Message, cell: NotebookNode, index: int) -> NotebookNode | None:
        name, text = msg["content"]["name"], msg["content"]["text"]
        self._write_log(text)
        if name == "stderr":
            self._stderr = (self._stderr + text)[:_SEARCHED]
        if self.output_hook_stack[msg["parent_header"].get("msg_id")]:  # an Output widget captures it
            return super().process_message(msg, cell, index) if self._budget.take(OVERHEAD + size_of(text)) else None
        if self._stream is not None and self._stream.node["name"] == name and not self.clear_before_next_output:
            self._stream.add(text)
            return None
        self._begin_output()
        if not (self._budget.take(OVERHEAD) or self._budget.may_warn()):
            return None
        node = super().process_message(msg, cell, index)
        if node is not None:
            self._stream = StreamText(node, self._budget)
        return node

    def _take_display(self, kind: str, content: Message) -> bool:
        """Log the text of a display; return whether the notebook keeps it."""
        if kind == "update_display_data":
            return fits(content, self._budget, self._displays)
        self._begin_output()
        self._write_log(display_text(content["data"]))
        return fits(content, self._budget, self._displays)

    def _begin_output(self) -> None:
        self._close_stream()
        if self.clear_before_next_output:
            self._budget.clear()

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
