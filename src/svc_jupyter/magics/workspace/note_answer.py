"""The value of `%svc_notes show`: a note with its main facts and its paragraphs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from svc_jupyter.clock import named_time
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.progress import plural
from svc_jupyter.magics.display.rendering import facts_html, facts_text
from svc_jupyter.widgets.schedules.words import moment

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.notes import Note

_SHOWN_LINES = 6
_SHOWN_PARAGRAPHS = 20


class NoteAnswer:
    """One note: `.id`, `.record` as received, `.paragraphs` as a DataFrame, `.forms` and their values."""

    def __init__(self, record: Note) -> None:
        self.record = record

    @property
    def id(self) -> int:
        """The note's id."""
        return self.record.id

    @property
    def paragraphs(self) -> pd.DataFrame:
        """A row per paragraph: title, text, and the status of its last run, if any."""
        rows = [[str(one.get(key) or "") for key in ("title", "text", "status")] for one in self.record.paragraphs]
        return frame_of(("title", "text", "status"), rows)

    @property
    def forms(self) -> dict[str, Any]:
        """The values of the note's forms, by name."""
        return {form.name: form.default if form.value is None else form.value for form in self.record.forms}

    def _title(self) -> str:
        return f"note {self.record.id} · {self.record.location}/{self.record.name}"

    def _facts(self) -> list[tuple[str, str]]:
        record = self.record
        when = named_time(moment(record.updated_at, "UTC"), datetime.now(UTC))
        facts = [
            ("kind", record.note_type),
            ("cluster", str(record.cluster_id) if record.cluster_id else "none"),
            ("changed", f"{when} · version {record.version} · revision {record.revision}"),
            ("forms", ", ".join(f"{name}={value}" for name, value in self.forms.items())),
        ]
        shown = record.paragraphs[:_SHOWN_PARAGRAPHS]
        facts += [(f"paragraph {number}", _paragraph(one)) for number, one in enumerate(shown, start=1)]
        if hidden := len(record.paragraphs) - len(shown):
            facts.append(("", f"{hidden} more {plural('paragraph', hidden)}: .paragraphs has all"))
        return [(name, value) for name, value in facts if value]

    def __repr__(self) -> str:
        return facts_text(self._title(), self._facts())

    def _repr_html_(self) -> str:
        return facts_html(self._title(), self._facts())


def _paragraph(paragraph: dict[str, Any]) -> str:
    """Return the beginning of a paragraph's text."""
    lines = str(paragraph.get("text") or "").strip("\n").split("\n")
    more = [f"… {len(lines) - _SHOWN_LINES} more lines"] if len(lines) > _SHOWN_LINES else []
    title = [f"[{paragraph['title']}]"] if paragraph.get("title") else []
    return "\n".join([*title, *lines[:_SHOWN_LINES], *more]) or "(empty)"
