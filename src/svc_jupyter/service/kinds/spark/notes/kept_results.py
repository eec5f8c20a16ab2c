"""A run's results in the note's document. Functions of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from svc_jupyter.service.workspace.note_documents import Document


def texts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the ids and texts of a document's paragraphs: what an edit changes."""
    return [(str(one.get("id")), one.get("text") or "") for one in document["paragraphs"]]


def with_results(
    document: Document, ran: Sequence[Mapping[str, Any]], was: Mapping[str, Any], values: Mapping[str, Any], email: str
) -> Document:
    """Return the document with the results of the paragraphs that ran, except those whose text has changed.

    `was` is the document that ran, `values` are the forms' values without passwords.
    """
    before = dict(texts(was))
    by_id = {one["id"]: one for one in ran}
    paragraphs = []
    for paragraph in document["paragraphs"]:
        about = by_id.get(str(paragraph.get("id")))
        if about is None or before.get(about["id"]) != (paragraph.get("text") or ""):
            paragraphs.append(paragraph)
        else:
            paragraphs.append(_with_result(paragraph, about, values, email))
    return {**document, "paragraphs": paragraphs}


def _with_result(paragraph: Document, about: Mapping[str, Any], values: Mapping[str, Any], email: str) -> Document:
    settings = paragraph.get("settings")
    settings = dict(settings) if isinstance(settings, dict) else {}
    forms = {**(settings.get("forms") or {}), **about["forms"]}
    params = {**(settings.get("params") or {}), **{name: value for name, value in values.items() if name in forms}}
    changed: Document = {
        **paragraph,
        "user": email,
        "status": about["status"],
        "progress": 100 if about["status"] == "FINISHED" else 0,
        "dateStarted": _time(about["started_at"]),
        "dateFinished": None if about["finished_at"] is None else _time(about["finished_at"]),
        "settings": {**settings, "forms": forms, "params": params},
    }
    if about["results"] is not None:
        changed["results"] = about["results"]
    return changed


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
