"""What the notebook keeps of a cell's outputs, and which of it is text.

Each cell and the notebook keep a limited amount, so that a run's memory does not grow with its output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from svc_jupyter.terminal_text import plain

CELL_LIMIT = 20 * 10**6
"""Characters of outputs that a cell keeps in the notebook, including the overhead of lines and outputs."""
NOTEBOOK_LIMIT = 100 * 10**6
"""Characters that all cells together keep."""
OVERHEAD = 1000
"""Overhead of an output in memory and in the file, in characters."""
_LINE_OVERHEAD = 100
"""Overhead of a line of text, which is a string of its own in the file."""
_FOLD = 1 << 16
CUT = "\n[the rest of this output is left out of the notebook; the log has all of it]\n"
_LEFT_OUT = "[an output of {size:,} characters was left out of the notebook]"


class Budget:
    """The characters that the cells may still keep."""

    def __init__(self, cell_limit: int = CELL_LIMIT, notebook_limit: int = NOTEBOOK_LIMIT) -> None:
        self._cell_limit = cell_limit
        self._notebook_limit = notebook_limit
        self._of_cells_before = 0
        self._of_cell = 0
        self._is_reported = False

    def next_cell(self) -> None:
        """Start the next cell."""
        self._of_cells_before += self._of_cell
        self.clear()

    def clear(self) -> None:
        """Reset the cell's use: its outputs were cleared."""
        self._of_cell = 0
        self._is_reported = False

    def take(self, size: int) -> bool:
        """Use some characters; return False, and use none, when fewer are left."""
        if size > self.left:
            return False
        self._of_cell += size
        return True

    def may_warn(self) -> bool:
        """Return True once per cell: it allows a note that something was omitted even when there is no room for it."""
        was_reported, self._is_reported = self._is_reported, True
        return not was_reported

    @property
    def left(self) -> int:
        """Return the characters that the cell may still keep."""
        return max(0, min(self._cell_limit, self._notebook_limit - self._of_cells_before) - self._of_cell)


class StreamText:
    """The text of one stream output while it grows. Keeps what a terminal would show, within the budget."""

    def __init__(self, node: NotebookNode, budget: Budget) -> None:
        self.node = node
        self._budget = budget
        self._lines: list[str] = []
        self._tail: list[str] = []
        self._tail_size = 0
        self._fold_at = _FOLD
        self._is_cut = False
        self.add(node["text"])

    def add(self, text: str) -> None:
        """Append what the cell printed."""
        if self._is_cut:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        if self._tail_size > self._fold_at:
            self._fold()

    def settle(self) -> None:
        """Write the current text into the output."""
        self._fold()
        self.node["text"] = "".join((*self._lines, *self._tail))

    def close(self) -> None:
        """Write the final text into the output."""
        self._fold()
        if not self._is_cut:
            self._keep("".join(self._tail))
        self._tail = []
        self.node["text"] = "".join(self._lines)

    def _fold(self) -> None:
        """Store complete lines, each as its carriage returns leave it."""
        if self._is_cut:
            return
        whole, end, rest = "".join(self._tail).rpartition("\n")
        if end:
            self._keep("\n".join(map(_overwritten, whole.split("\n"))) + "\n")
        rest = _overwritten(rest)
        if len(rest) > max(_FOLD, self._budget.left) and not self._is_cut:
            self._keep(rest)
        self._tail = [] if self._is_cut else [rest]
        self._tail_size = len(rest)
        self._fold_at = max(_FOLD, 2 * self._tail_size)

    def _keep(self, text: str) -> None:
        if self._budget.take(size_of(text)):
            self._lines.append(text)
            return
        for line in text.splitlines(keepends=True):
            if not self._budget.take(size_of(line)):
                self._lines.append(line[: self._budget.left])
                break
            self._lines.append(line)
        self._budget.take(self._budget.left)
        self._lines.append(CUT)
        self._is_cut = True


def _overwritten(line: str) -> str:
    """Return the visible text of a line after its carriage returns; one at its end has overwritten nothing yet."""
    if "\r" not in line:
        return line
    shown = line.rstrip("\r")
    return shown.rpartition("\r")[2] + line[len(shown) : len(shown) + 1]


def fits(content: dict[str, Any], budget: Budget, displays: dict[str, int]) -> bool:
    """Return whether a display is kept; one over the budget is replaced by a note, in place.

    `displays` holds the size of each updatable display: an update uses only its growth.
    """
    size = size_of(content["data"])
    name = (content.get("transient") or {}).get("display_id")
    taken = displays.get(name, 0) if name else 0
    if budget.take(max(0, OVERHEAD + size - taken)):
        if name:
            displays[name] = max(taken, OVERHEAD + size)
        return True
    content["data"] = {"text/plain": _LEFT_OUT.format(size=size)}
    content["metadata"] = {}
    return budget.take(OVERHEAD) or budget.may_warn()


def size_of(value: Any) -> int:
    """Return the approximate number of characters that a value takes in the notebook."""
    if isinstance(value, str):
        return len(value) + _LINE_OVERHEAD * value.count("\n")
    if isinstance(value, Mapping):
        return sum(len(key) + size_of(item) for key, item in value.items())
    if isinstance(value, Sequence):
        return sum(map(size_of, value))
    return len(json.dumps(value))


def display_text(data: Mapping[str, Any]) -> str:
    """Return the text of a display as whole lines; empty when it has none (only an image)."""
    text = data.get("text/plain", "")
    return text if text.endswith("\n") or not text else f"{text}\n"


def last_text(cells: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the text outputs of the last cell that has any, None when no cell has: the inline result of a run.

    It excludes stderr and tracebacks, which are in the log.
    """
    for cell in reversed(cells):
        text = plain("".join(map(_text_of, cell.get("outputs", []))))
        if text:
            return text
    return None


def _text_of(output: Mapping[str, Any]) -> str:
    if output["output_type"] == "stream":
        return str(output["text"]) if output["name"] == "stdout" else ""
    return display_text(output.get("data", {}))
