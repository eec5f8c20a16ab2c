"""Selects one of several tables of a command: a DUMP of a Pig script, a TABLE of a note.

An extension. The default is the last table, as with several statements of SQL.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from svc_jupyter.service.commands import results
from svc_jupyter.service.commands.kind import StoredResult
from svc_jupyter.service.commands.record import Row
from svc_jupyter.service.ground.errors import NotFound


def dump_file(number: int) -> str:
    """Return the file name of a DUMP's rows, counted from 1, when another DUMP follows."""
    return f"dump-{number}.arrow"


def stored_dump(row: Row, wanted: str) -> StoredResult:
    """Return the rows of a command's DUMP by number, from 1, or of an alias's last one. Raises `NotFound`."""
    dumps = (row["outputs"] or {}).get("dumps") or []
    numbers = [number for number, dump in enumerate(dumps, start=1) if wanted in (dump["alias"], str(number))]
    if not numbers:
        there = ", ".join(dict.fromkeys(dump["alias"] for dump in dumps)) or "none"
        raise NotFound(f"command {row['id']} has no DUMP {wanted[:100]!r}; there is {there}")
    number = numbers[-1]
    dump = dumps[number - 1]
    last = results.from_json(row["result"])
    if number == len(dumps):
        return last
    return StoredResult(
        form=last.form,
        file=str(PurePosixPath(last.file).with_name(dump_file(number))),
        size=dump["size"],
        rows=dump["rows"],
        columns=tuple((name, kind) for name, kind in dump["columns"]),
    )


def stored_table(row: Row, wanted: str) -> StoredResult:
    """Return the rows of a note's TABLE by number, from 1, or of a paragraph's last one. Raises `NotFound`."""
    tables = (row["outputs"] or {}).get("tables") or []
    numbers = [
        number
        for number, table in enumerate(tables, start=1)
        if wanted in (str(number), table["paragraph"], table["title"])
    ]
    if not numbers:
        there = f"there are {len(tables)}, numbered from 1" if tables else "there is none"
        raise NotFound(f"command {row['id']} has no table {wanted[:100]!r}; {there}")
    table = tables[numbers[-1] - 1]
    last = results.from_json(row["result"])
    return StoredResult(
        form=last.form,
        file=str(PurePosixPath(last.file).with_name(table["file"])),
        size=table["size"],
        rows=table["rows"],
        columns=tuple((name, kind) for name, kind in table["columns"]),
    )
