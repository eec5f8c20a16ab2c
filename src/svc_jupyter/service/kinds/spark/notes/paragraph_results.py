"""Results of paragraphs: as a note keeps them, as text, and as typed tables. Functions of values and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from svc_jupyter.plain_numbers import numbers_of
from svc_jupyter.service.kinds.spark.notes.statements import Message

KEPT_CHARACTERS = 1_000_000
"""Per paragraph's result in the note; the log has the whole text."""


@dataclass(slots=True)
class RunParagraph:
    """A paragraph of a run: its position in the note, its status, and its result as a note keeps it."""

    id: str
    number: int
    title: str | None
    language: str
    status: str = "RUNNING"
    """RUNNING, FINISHED, ERROR or ABORT, as in the file format."""
    started_at: float = 0.0
    finished_at: float | None = None
    results: dict[str, Any] | None = None
    forms: dict[str, Any] = field(default_factory=dict)
    tables: list[int] = field(default_factory=list)
    """The numbers of its tables in the run, from 1."""
    error: str | None = None
    line: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return its JSON form."""
        return asdict(self)


def results_of(messages: Sequence[Message], *, failed: bool) -> dict[str, Any]:
    """Return messages as a note keeps them, cut to what it can show."""
    kept, left = [], KEPT_CHARACTERS
    for message in messages:
        data = message.data
        if len(data) > left:
            if message.type == "HTML":  # half an HTML document is useless
                data = "this result is larger than a note keeps; the log has it whole"
            else:
                data = f"{data[:left].rpartition(chr(10))[0]}\n"
            kept.append({"type": "TEXT" if message.type == "HTML" else message.type, "data": data})
            kept.append({"type": "TEXT", "data": f"cut at {KEPT_CHARACTERS:,} characters; the log has it whole\n"})
            break
        kept.append({"type": message.type, "data": data})
        left -= len(data)
    return {"code": "ERROR" if failed else "SUCCESS", "msg": kept}


@dataclass(frozen=True, slots=True)
class Table:
    """A TABLE result as typed rows on disk. `size` is in bytes, `columns` are names and types."""

    paragraph: str
    title: str | None
    rows: int
    size: int
    columns: list[list[str]]


def write_table(message: Message, file: Path, paragraph: RunParagraph) -> Table:
    """Write the rows of a TABLE as an Arrow IPC stream, with the engine's types, or texts and plain numbers."""
    import pyarrow as pa

    if message.rows is not None:
        message.rows.replace(file)
        with file.open("rb") as source, pa.ipc.open_stream(source) as reader:
            schema, rows = reader.schema, sum(batch.num_rows for batch in reader)
    else:
        table = _parsed(message.data)
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        schema, rows = table.schema, table.num_rows
    columns = [[item.name, str(item.type)] for item in schema]
    return Table(paragraph.id, paragraph.title, rows, file.stat().st_size, columns)


def _parsed(text: str) -> Any:
    """Return tab-separated text with headers as a table of texts, and of numbers where they are plain ones.

    An empty field is missing, and so are those of a line that has fewer; a longer line has columns of its own.
    """
    import pyarrow as pa

    if not text.strip("\n"):
        return pa.table({})
    lines = [line.removesuffix("\r").split("\t") for line in text.strip("\n").split("\n")]
    header, *rows = [fields for fields in lines if fields != [""] or len(lines[0]) == 1]
    names = [*header, *(f"column {place}" for place in range(len(header) + 1, max(map(len, lines)) + 1))]
    columns = [
        [fields[place] or None if place < len(fields) else None for fields in rows] for place in range(len(names))
    ]
    numbers = [numbers_of(texts) for texts in columns]
    arrays = [
        pa.array(texts, pa.string()) if found is None else pa.array(found)
        for texts, found in zip(columns, numbers, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=names)


def joined_tables(messages: Sequence[Message]) -> str:
    """Return the TABLE results as text with headers, separated by blank lines."""
    return "\n".join(f"{message.data.rstrip(chr(10))}\n" for message in messages if message.type == "TABLE")
