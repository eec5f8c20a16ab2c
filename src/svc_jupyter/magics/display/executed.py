"""An executed notebook as a value: its outputs, its HTML page, and saving it to a file."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svc_jupyter.client import Command

_HEIGHT = "30em"


class ExecutedNotebook:
    """The value of `%svc_notebook run -o NAME`: `.content` is the notebook as JSON, `.save(PATH)` writes it.

    `page` is the HTML page, if fetched.
    """

    def __init__(self, path: str, command_id: int, text: str) -> None:
        self.path = path
        self.command_id = command_id
        self.page: str | None = None
        self._text = text

    @property
    def content(self) -> dict[str, Any]:
        """The notebook in nbformat."""
        content: dict[str, Any] = json.loads(self._text)
        return content

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Its cells."""
        return list(self.content.get("cells", []))

    def save(self, path: str | Path) -> Path:
        """Write the notebook to a file, or the page if the name ends in `.html` and there is a page."""
        target = Path(path)
        as_page = target.suffix.lower() in (".html", ".htm") and self.page is not None
        target.write_text(self.page or "" if as_page else self._text, encoding="utf-8")
        return target

    def _repr_mimebundle_(self, **_chosen: Any) -> dict[str, str]:
        """Return the representations for a front end: the page, isolated from the surrounding notebook, or the text."""
        shown = {"text/plain": repr(self)}
        if self.page is not None:
            shown["text/html"] = (
                f'<iframe sandbox srcdoc="{escape(self.page)}" title="{escape(self.path)}, executed" '
                f'style="width: 100%; height: {_HEIGHT}; border: 1px solid var(--jp-border-color2, #bdbdbd)"></iframe>'
            )
        return shown

    def __repr__(self) -> str:
        code = [cell for cell in self.cells if cell.get("cell_type") == "code"]
        ran = sum(cell.get("execution_count") is not None for cell in code)
        return f"{self.path}, executed by command {self.command_id}: {ran} of {len(code)} code cells"


def executed_notebook(command: Command) -> ExecutedNotebook:
    """Fetch the executed notebook of a command and its page."""
    notebook = ExecutedNotebook(str(command.record.command.get("path")), command.id, command.executed_notebook())
    notebook.page = command.executed_page()
    return notebook
