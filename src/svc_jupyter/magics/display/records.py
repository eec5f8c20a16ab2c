"""Display a command's record: pure functions, with the current time as an argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import command_word, source_words, type_word
from svc_jupyter.clock import named_time
from svc_jupyter.durations import elapsed, span
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.progress import plural

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.commands import CommandRecord

_HISTORY_COLUMNS = ("id", "status", "type", "name", "submitted", "took", "rows", "label", "source", "message", "text")
_LONGEST_TEXT = 60


def record_facts(record: CommandRecord, now: datetime) -> list[tuple[str, str]]:
    """Return the main names and values of a record; fields without a value are omitted."""
    facts = [
        ("name", record.name),
        ("cluster label", record.label),
        ("source", source_words(record.command_source, record.notebook)),
        ("submitted", named_time(datetime.fromtimestamp(record.submit_time, UTC), now)),
        ("ran", _ran(record, now)),
        ("progress", f"{record.progress} %" if 0 < record.progress < 100 else None),
        ("attempts", str(len(record.attempts)) if len(record.attempts) > 1 else None),
        ("result", f"{record.result_rows:,} {plural('row', record.result_rows)}" if record.result_rows else None),
        ("message", record.message),
        ("text", text_of(record)),
    ]
    return [(name, value) for name, value in facts if value]


def _ran(record: CommandRecord, now: datetime) -> str | None:
    seconds = record.seconds_taken()
    if seconds is not None:
        return elapsed(seconds)
    start = record.start_time
    return f"{span(now.timestamp() - start)} so far" if isinstance(start, int) else None


def text_of(record: CommandRecord) -> str | None:
    """Return the first line of the command's text, shortened."""
    return shortened(record.command)


def shortened(command: Mapping[str, Any]) -> str | None:
    """Return the first line of the text in a command's fields."""
    fields = ("inline", "query", "script_location", "latin_statements", "program", "path")
    text = next((str(command[name]) for name in fields if command.get(name)), "")
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return (line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1] + "…") or None


def history_frame(records: Iterable[CommandRecord]) -> pd.DataFrame:
    """Return a row per command: texts that are missing are empty, a message is its first line."""
    rows = map(_history_row, records)
    return frame_of(_HISTORY_COLUMNS, rows, times=("submitted",), durations=("took",), integers=("rows",))


def _history_row(record: CommandRecord) -> Sequence[Any]:
    return (
        record.id,
        command_word(str(record.status)),
        type_word(record.command_type),
        record.name or "",
        datetime.fromtimestamp(record.submit_time, UTC),
        record.seconds_taken(),
        record.result_rows,
        record.label or "",
        source_words(record.command_source, record.notebook),
        (record.message or "").partition("\n")[0],
        text_of(record) or "",
    )
