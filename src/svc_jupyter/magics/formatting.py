"""`%svc_format`: SQL in a readable layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.arguments.decorators import line_cell_magic
from svc_jupyter.magics.arguments.options import parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError

if TYPE_CHECKING:
    from svc_jupyter.sql_format import Formatted


class FormatMagics(SvcFamily):
    """The magic that lays SQL out."""

    @line_cell_magic
    def svc_format(self, line: str, cell: str | None = None) -> None:
        """Lay out the SQL of the cell below this line; without one, of the last cell with SQL that was run.

        Line breaks, indentation and spaces change, and nothing else. The new text takes the place of this cell; in a
        terminal it is the next input.
        """
        from svc_jupyter.sql_format import NotFormatted, formatted_cell

        parse(self.svc_format, line)
        history = self.shell.history_manager
        *earlier, this = ["", ""] if history is None else history.input_hist_raw
        try:
            found = _of_last(earlier) if cell is None else formatted_cell(cell)
        except NotFormatted as refusal:
            raise SvcUsageError(f"svc_format: {refusal}") from None
        stands_alone = len(this.strip().splitlines()) == 1
        self.shell.set_next_input(found.text, replace=cell is not None or stands_alone)
        if found.note:
            print(found.note)  # noqa: T201  it is for the user


def _of_last(cells: list[str]) -> Formatted:
    """Return the last cell that has SQL. Raises `NotFormatted`."""
    from svc_jupyter.sql_format import NotFormatted, formatted_cell

    for cell in reversed(cells):
        try:
            return formatted_cell(cell)
        except NotFormatted:
            continue
    raise NotFormatted("no cell with SQL was run. Write %%svc_format above one")
