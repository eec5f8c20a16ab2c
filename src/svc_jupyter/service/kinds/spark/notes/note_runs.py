"""Runs of notes in the service: permissions, the job of a run, and its results.

A run requires permission to read the note. Its results always belong to the command; they are also saved into the note
when the user may change it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from svc_jupyter.service.access.caller_reading import ActingUsers
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action
from svc_jupyter.service.commands.kind import Outcome, StoredResult, Task
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, ServiceError
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.spark.notes.job import (
    ERROR_FILE,
    NOTE_FILE,
    PARAGRAPHS_FILE,
    SUMMARY_FILE,
    TABLES_FILE,
    NoteJob,
    table_file,
)
from svc_jupyter.service.kinds.spark.notes.session_link import SessionAddress
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.warm_workers import IDLE_SECONDS, WarmWorkers
from svc_jupyter.service.workspace.form_arguments import (
    check_forms,
    checked_arguments,
    open_arguments,
    seal_arguments,
    shown_arguments,
)
from svc_jupyter.service.workspace.note_documents import Document
from svc_jupyter.service.workspace.note_forms import forms_of
from svc_jupyter.service.workspace.notes import Notes, ReadNote

ARGUMENTS, PASSWORDS, CLUSTER, PARAGRAPH = "_arguments", "_passwords", "_cluster_id", "_paragraph"
"""Fields of a command's row that are not in its record: names with `_` are never shown."""
_WORKER = "svc_jupyter.service.kinds.spark.notes.worker"


class NoteRuns:
    """Runs notes in processes of their own, each in its own session on the cluster."""

    def __init__(
        self, database: Database, notes: Notes, secrets: SecretBox, workers: NoteWorkers, settings: Settings
    ) -> None:
        self._users = ActingUsers(database)
        self._notes = notes
        self._secrets = secrets
        self._workers = workers
        self._settings = settings

    async def describe(
        self, note_id: int, arguments: Any, label: str | None, caller: Caller, *, paragraph: str | None = None
    ) -> dict[str, Any]:
        """Return the fields of a note run's `command`; loads the workers' parent in the background.

        `paragraph` is the id, or the number from 1, of the only paragraph to run.

        Raises `Invalid` with the reason, and `Forbidden` for a user who may not read the note.
        """
        given = checked_arguments(arguments)
        note = await asyncio.to_thread(self._runnable, note_id, caller)
        if label is None and note.summary.cluster_id is None:
            raise Invalid(
                f"the notebook has no cluster associated: give a label, or bind note {note_id} to a Spark cluster"
            )
        only = None if paragraph is None else _paragraph_id(note, paragraph)
        forms = forms_of(note.document)
        check_forms(forms, given)
        plain, sealed = seal_arguments(given, forms, self._secrets)
        self._workers.warm()
        return {
            "note_id": note_id,
            "language": "notebook",
            "arguments": json.dumps(shown_arguments(given, plain), ensure_ascii=False),
            ARGUMENTS: plain,
            PASSWORDS: sealed,
            CLUSTER: note.summary.cluster_id,
            PARAGRAPH: only,
        }

    async def start(self, task: Task, address: SessionAddress) -> DurableProcess:
        """Start the process of a run. Raises `ServiceError`, and `ValueError` when its passwords cannot be opened."""
        note = await asyncio.to_thread(self._fetch, task)
        command = task.command
        return await self._workers.start(
            NoteJob(
                folder=task.folder,
                log=task.log_file,
                session=asdict(address),
                only=command[PARAGRAPH],
                arguments=open_arguments(command[ARGUMENTS], command[PASSWORDS], self._secrets),
                environment={**task.environment, "SVC_NOTE_ID": str(note.summary.id)},
                min_free_bytes=self._settings.min_free_disk_bytes,
            )
        )

    async def outcome(self, task: Task, code: int | None) -> Outcome:
        """Return the outcome of a run, once its results are in the note."""
        return await asyncio.to_thread(self._outcome, task, code)

    async def stop(self) -> None:
        """End the workers' parent; the runs continue."""
        await self._workers.stop()

    def _runnable(self, note_id: int, caller: Caller) -> ReadNote:
        try:
            note = self._notes.get(note_id, by=caller)
        except NotFound:
            raise Invalid(f"no Spark notebook exists for the account with the ID {note_id}") from None
        if note.summary.note_type != "spark":
            raise Invalid(f"note {note_id} is a Presto notebook, which cannot be run")
        return note

    def _fetch(self, task: Task) -> ReadNote:
        callers = [self._users.caller(task.account_id, user_id) for user_id in task.users]
        note, *_ = [self._runnable(task.command["note_id"], caller) for caller in callers]
        about = {"revision": note.summary.revision, "name": note.summary.name}
        (task.folder / NOTE_FILE).write_text(json.dumps({**note.document, "svc_note": about}), "utf-8")
        return note

    def _outcome(self, task: Task, code: int | None) -> Outcome:
        ran = _read(task, PARAGRAPHS_FILE) or []
        outputs = {"paragraphs": [_brief(one) for one in ran], "note": self._kept(task, ran)}
        error = _read(task, ERROR_FILE)
        summary = _read(task, SUMMARY_FILE)
        if error is not None:
            return Outcome(False, error["message"], exit_code=code, may_retry=error["may_retry"], outputs=outputs)
        if summary is None:
            how = "it was killed" if code is None or code < 0 or code > 128 else f"exit code {code}; the log says more"
            return Outcome(False, f"the process of the run ended before it: {how}", exit_code=code, outputs=outputs)
        tables = [{**table, "file": table_file(number)} for number, table in enumerate(summary["tables"], start=1)]
        outputs["tables"] = tables
        return Outcome(True, exit_code=code, result=_result(task, summary["size"], tables), outputs=outputs)

    def _kept(self, task: Task, ran: list[dict[str, Any]]) -> dict[str, Any] | None:
        """Save the results into the note, and return the record's line about it."""
        was = _read(task, NOTE_FILE)
        if was is None:
            return None
        note_id = task.command["note_id"]
        record: dict[str, Any] = {"id": note_id, **was["svc_note"], "edited": False, "saved": False}

        def change(document: Document) -> Document:
            record["edited"] = texts(document) != texts(was)
            return with_results(document, ran, was, task.command[ARGUMENTS], caller.email)

        try:
            caller, *others = [self._users.caller(task.account_id, user_id) for user_id in task.users]
            self._notes.require_all(note_id, Action.UPDATE, others)
            self._notes.keep_results(note_id, change, by=caller)
            record["saved"] = True
        except (Forbidden, NotFound) as error:
            record["message"] = f"the results are not in the note: {error.message}"
        except ServiceError as error:
            record["message"] = f"the results could not be saved: {error.message}"
        if record["edited"]:
            record["message"] = "the note was edited while it ran; this is the run of what it said at its beginning"
        return record


def _paragraph_id(note: ReadNote, wanted: str) -> str:
    for number, paragraph in enumerate(note.document["paragraphs"], start=1):
        if wanted in (str(paragraph["id"]), str(number)):
            return str(paragraph["id"])
    count = len(note.document["paragraphs"])
    raise Invalid(f"paragraph: note {note.summary.id} has no paragraph {wanted[:100]!r}; it has {count}, from 1")


def _read(task: Task, name: str) -> Any:
    try:
        return json.loads((task.folder / name).read_text("utf-8"))
    except FileNotFoundError:
        return None


def _brief(ran: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("id", "number", "title", "language", "status", "tables", "error", "line")
    end = ran["finished_at"]
    seconds = None if end is None else round(end - ran["started_at"], 3)
    return {**{key: ran[key] for key in keys}, "seconds": seconds}


def _result(task: Task, size: int | None, tables: list[dict[str, Any]]) -> StoredResult | None:
    """Return the last TABLE as the typed result, and all of them as its text."""
    if size is None:
        return None
    last = {**tables[-1], "size": size}
    return StoredResult.of_rows(f"{task.attempt}/{last['file']}", last, text_file=f"{task.attempt}/{TABLES_FILE}")


class NoteWorkers(WarmWorkers[NoteJob]):
    """Starts a process for each run. Shell paragraphs inherit `environment`, without the service's own variables."""

    def __init__(
        self, environment: Mapping[str, str], *, idle_seconds: float = IDLE_SECONDS, python: str = sys.executable
    ) -> None:
        super().__init__(_WORKER, environment, idle_seconds=idle_seconds, python=python)


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
