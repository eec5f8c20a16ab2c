"""Runs inside a run's kernel, silently before the first cell: reports what the outputs of a notebook do not show.

A warning that Python shows looks like any other text on stderr; the guard reports it separately. It also sends long
texts in pieces, omits other data that is too large for one message, and lets `exit()` end a cell as in a program: in
IPython's kernels it returns, and the kernel ends some time later. This file is sent to the kernel as text, so it
needs nothing but IPython, on any Python that IPython supports.
"""

from __future__ import annotations

import warnings
from typing import Any

from IPython import get_ipython

WARNING = "svc_jupyter_warning"
"""Type of the message that reports a warning: `text`, and `line` of the cell or null."""
_PIECE = 1 << 20
_TRACEBACK_LINE = 10_000
_DISPLAYS = ("display_data", "update_display_data", "execute_result")
_ERRORS = ("error", "execute_reply")


def install(largest: int) -> None:
    """Install the guard; displayed data of more than `largest` characters is omitted."""
    shell: Any = get_ipython()
    _bound_messages(shell.kernel.session, largest)
    _report_warnings(shell)
    _end_at_exit(shell)


def _end_at_exit(shell: Any) -> None:
    class Exit(type(shell.exiter)):  # type: ignore[misc]  # the kernel's own, which also works without parentheses
        def __call__(self, code: object = None, **_of_ipython: object) -> None:
            raise SystemExit(code)

    shell.exiter = Exit()
    for names in (shell.user_ns, shell.user_ns_hidden):
        names.update(exit=shell.exiter, quit=shell.exiter)


def _report_warnings(shell: Any) -> None:
    show = warnings.showwarning
    kernel = shell.kernel

    def showwarning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        show(message, category, filename, lineno, file, line)
        if file is None:
            in_cell = _is_cell(shell, filename)
            place = "" if in_cell else f" ({filename}, line {lineno})"
            content = {"text": f"{category.__name__}: {message}{place}", "line": lineno if in_cell else None}
            kernel.session.send(kernel.iopub_socket, WARNING, content, parent=kernel.get_parent())

    warnings.showwarning = showwarning


def _is_cell(shell: Any, filename: str) -> bool:
    name = getattr(shell.compile, "format_code_name", None)
    return name is not None and name(filename) is not None


def _bound_messages(session: Any, largest: int) -> None:
    send = session.send

    def bounded(stream: Any, message: Any, content: Any = None, *more: Any, **named: Any) -> Any:
        if not isinstance(message, dict):
            for part in _parts(message, content, largest):
                sent = send(stream, message, part, *more, **named)
            return sent
        kind, parent = message["header"]["msg_type"], message["parent_header"]
        first, *others = _parts(kind, message["content"], largest)
        sent = send(stream, {**message, "content": first}, content, *more, **named)
        for part in others:
            sent = send(stream, session.msg(kind, part, parent), content, *more, **named)
        return sent

    session.send = bounded


def _parts(kind: str, content: Any, largest: int) -> list[Any]:
    """Return the pieces to send instead of one content."""
    if kind == "stream" and len(content["text"]) > _PIECE:
        text = content["text"]
        return [{**content, "text": text[start : start + _PIECE]} for start in range(0, len(text), _PIECE)]
    if kind in _DISPLAYS:
        size = sum(len(value) for value in content["data"].values() if isinstance(value, str))
        if size > largest:
            note = f"[an output of {size:,} characters was left out]"
            return [{**content, "data": {"text/plain": note}, "metadata": {}}]
    if kind in _ERRORS and "traceback" in content:
        lines = [line[:_TRACEBACK_LINE] for line in content["traceback"]]
        return [{**content, "evalue": str(content["evalue"])[:_TRACEBACK_LINE], "traceback": lines}]
    return [content]
