"""A notebook's cells and outputs as text for a terminal: pure functions of nbformat structures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_RULE_WIDTH = 100
_KILOBYTE = 1000


def cell_text(cell: Mapping[str, Any]) -> str:
    """Return a cell as text: prose unchanged, headings within a rule, code behind a bar."""
    if cell["cell_type"] != "code":
        return "\n".join(_prose_line(line) for line in str(cell["source"]).splitlines()) + "\n"
    return "\n".join(f"│ {line}" for line in str(cell["source"]).splitlines())


def output_text(output: Mapping[str, Any]) -> str:
    """Return the text of an output; an image is described by its type and size."""
    kind = output["output_type"]
    if kind == "stream":
        return str(output["text"]).rstrip("\n")
    if kind == "error":
        return _COLOURS.sub("", "\n".join(output["traceback"]))
    data: Mapping[str, Any] = output["data"]
    pictures = [name for name in data if name.startswith("image/")]
    if pictures:
        # Base64: four characters encode three bytes.
        size = len(str(data[pictures[0]])) * 3 // 4
        return f"[{pictures[0].removeprefix('image/')} picture, {size / _KILOBYTE:.0f} kB: see the executed copy]"
    return _COLOURS.sub("", str(data.get("text/plain", f"[{', '.join(data)}]")))


def error_text(name: str, message: str) -> str:
    """Return the first line of an error; the full text is among the cell's outputs."""
    first = _COLOURS.sub("", message).strip().partition("\n")[0]
    return f"{name}: {first}" if first else name


def _prose_line(line: str) -> str:
    heading = re.match(r"#{1,6} (.*)", line)
    if heading is None:
        return line
    title = heading[1]
    return f"── {title} " + "─" * max(_RULE_WIDTH - len(title) - 4, 0)
