"""Read and save a command's result: shared by both result classes."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandRecord, CommandWithRows, Results
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.commands import tables
from svc_jupyter.client.commands.streams import PLAIN_BYTES, table_of
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import ResultUnavailable
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.link import Link

if TYPE_CHECKING:
    import pyarrow as pa

_FORM_OF_SUFFIX = {
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".parquet": "parquet",
    ".csv": "csv",
    ".txt": "text",
    ".tsv": "text",
}


class Reading:
    """The calls and the state for reading a command's result.

    A service with the extensions sends typed results as an Arrow stream of any size. Other results, and those without
    rows, are inline text; above the inline limit (20 MB) only a service with the extensions can send it.
    `sequence_number` selects a sub-command of a composite, `dump` a DUMP of a Pig command, and `table` a TABLE of a
    note's run; all count from 1.
    """

    def __init__(
        self,
        command: Tracked,
        sequence_number: int | None = None,
        dump: int | None = None,
        table: int | None = None,
    ) -> None:
        self.command = command
        self.sequence_number = sequence_number
        self.dump = dump
        self.table = table
        self.link: Link = command._link
        self.rows: int | None = None

    @property
    def part(self) -> dict[str, int]:
        """The parameters that name one of several tables of a command; empty for its result."""
        numbers = {"sequence_number": self.sequence_number, "dump": self.dump, "table": self.table}
        return {name: number for name, number in numbers.items() if number is not None}

    @property
    def typed(self) -> bool:
        """Whether the rows have typed columns rather than lines of text."""
        return self.command.has_typed_results

    def check(self) -> None:
        """Raise ResultUnavailable for a command that is not done."""
        record = self.command.record
        if record.status is not CommandStatus.DONE:
            raise ResultUnavailable(f"command {record.id} has no result: it is {record.status}")

    def inline_call(self) -> Call | None:
        """Return the call for the text; None when it is known, or must be read as a stream."""
        self.check()
        record = self.command.record
        is_streamed = self.typed and self.link.extended and record.result_rows is not None
        if self._has_no_text or self.command._inline is not None or is_streamed:
            return None
        params = {"inline": True, "include_headers": self.typed, "sequence_number": self.sequence_number}
        return Call("GET", results_path(record), params)

    def take_inline(self, results: Results) -> None:
        """Keep the answer to `inline_call`."""
        self.command._inline = results

    def inline(self) -> str | None:
        """Return the text, after the answer to `inline_call`; None when it must be read as a stream."""
        held = self.command._inline
        if self._has_no_text or held is None:
            return None
        if held.inline:
            return held.results or ""
        if not self.link.extended:
            places = ", ".join(held.result_location or []) or "a place that the service does not name"
            raise ResultUnavailable(
                f"the result of command {self.command.id} is too large to be sent inline; it is at {places}"
            )
        return None

    @property
    def _has_no_text(self) -> bool:
        return self.dump is not None or self.table is not None

    def table_of(self, text: str) -> pa.Table:
        """Return an inline text as a table."""
        if self.typed:
            table = tables.tsv_table(text, tables.column_types(self.command.record.qlog))
        else:
            table = tables.lines_table(tables.lines_of(text))
        self.rows = table.num_rows
        return table

    def rows_at_hand(self) -> pa.Table | None:
        """Return the rows that arrived with the command's end, if any."""
        record = self.command.record
        rows = record.arrow if isinstance(record, CommandWithRows) else None
        if rows is None or self.part:
            return None
        return table_of(iter((b64decode(rows),)))

    def stream_call(self, media_type: str = paths.ARROW_STREAM) -> Call:
        """Return the call for the rows as a byte stream."""
        path = paths.command(self.command.id, "results")
        return Call("GET", path, self.part, accept=media_type, headers=PLAIN_BYTES, stream=True)

    def known_bytes(self) -> int | None:
        """Return the bytes of the stored rows, if known."""
        if self.dump is not None:
            return self.command.dumps[self.dump - 1].size
        if self.table is not None:
            return self.command.tables[self.table - 1].size
        return self.command.record.result_bytes

    def known_rows(self) -> int | None:
        """Return the number of rows, if known."""
        if self.rows is None and self.dump is not None:
            return self.command.dumps[self.dump - 1].rows
        if self.rows is None and self.table is not None:
            return self.command.tables[self.table - 1].rows
        return self.rows if self.rows is not None else self.command.record.result_rows


def results_path(record: CommandRecord) -> str:
    """Return the path of a command's results, from its `meta_data` if that has one."""
    resource = getattr(record.meta_data, "results_resource", None)
    if isinstance(resource, str) and resource.startswith("commands/") and ".." not in resource and "?" not in resource:
        return paths.api(resource)
    return paths.command(record.id, "results")


def form_of(target: Path, form: str | None) -> str:
    """Return the format to save in: the given one, else the suffix's. Raises ValueError with the list of formats."""
    chosen = form or _FORM_OF_SUFFIX.get(target.suffix.lower())
    if chosen is None or chosen not in (*tables.FORMATS, "text"):
        raise ValueError(
            f"the format must be {', '.join(tables.FORMATS)} or text, not {form or target.suffix or 'none'!r}"
        )
    return chosen
