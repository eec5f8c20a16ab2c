"""An executed notebook as a value of the user's notebook: its outputs, its page, and a way to keep it as a file."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svc_jupyter.client import Command

_HEIGHT = "30em"


class ExecutedNotebook:
    """What `%svc_notebook run -o NAME` assigns: `.content` is the notebook as JSON, `.save(PATH)` writes it.

    `page` is the same as HTML, where it was fetched.
    """

    def __init__(self, path: str, command_id: int, text: str) -> None:
        self.path = path
        self.command_id = command_id
        self.page: str | None = None
        self._text = text

    @property
    def content(self) -> dict[str, Any]:
        """The notebook as nbformat has it."""
        content: dict[str, Any] = json.loads(self._text)
        return content

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Its cells."""
        return list(self.content.get("cells", []))

    def save(self, path: str | Path) -> Path:
        """Write it as a file, of the notebook or, when the name ends in `.html` and there is one, of the page."""
        target = Path(path)
        as_page = target.suffix.lower() in (".html", ".htm") and self.page is not None
        target.write_text(self.page or "" if as_page else self._text, encoding="utf-8")
        return target

    def _repr_mimebundle_(self, **_chosen: Any) -> dict[str, str]:
        """Return what a front end shows: the page, shut off from the notebook it is shown in, or the text."""
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
    """Fetch the notebook that a command executed, with its page; asks the service."""
    notebook = ExecutedNotebook(str(command.record.command.get("path")), command.id, command.executed_notebook())
    notebook.page = command.executed_page()
    return notebook
