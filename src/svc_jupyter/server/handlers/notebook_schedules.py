"""`schedules`: those of the open notebook, and all others."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado.web import HTTPError, authenticated

from svc_jupyter.api import paths
from svc_jupyter.api.notebook_parameters import Parameter, Unreadable, parameters_in
from svc_jupyter.client.errors import NotFound
from svc_jupyter.client.requests.jupyter_contents import resource
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.copy_keeper import NewCopy
from svc_jupyter.server.handlers.commands import comparison
from svc_jupyter.server.handlers.notes import NotesOfNotebooks
from svc_jupyter.server.handlers.schedules import submission_of
from svc_jupyter.server.handlers.service_handler import (
    CopiesHandler,
    ServiceHandler,
    asks_the_service,
    without,
)
from svc_jupyter.server.local_files import read_notebook
from svc_jupyter.server.runs_by_hand import RUNS_BY_HAND, RunsByHand, tags_of
from svc_jupyter.server.scheduled_copies import CopyPaths, same_to_run

_TYPE, _OF_NOTES = "JupyterNotebookCommand", "SparkCommand"
_OPEN = ("RUNNING", "SUSPENDED")


class _NotebookHandler(CopiesHandler, NotesOfNotebooks):
    """Knows which schedules run a notebook."""

    async def schedules_of(self, notebook: str, note: int | None = None) -> list[dict[str, Any]]:
        """Return the records of the unfinished schedules that run a copy of a local notebook, or a note."""
        places = await self.copies.places()
        answer = await self.connection.answer(Call("GET", paths.api("scheduler"), {"page": "all"}))
        return [
            record
            for record in answer.json()["schedules"]
            if runs(record, notebook, places) or (note is not None and _runs_note(record, note))
        ]

    async def scheduled(self, notebook: str) -> list[dict[str, Any]]:
        """Return these records. Raises `HTTPError` 404 when there are none."""
        records = await self.schedules_of(notebook)
        if not records:
            raise HTTPError(404, f"no schedule runs a copy of {notebook}: schedule it first")
        return records

    @property
    def notebook(self) -> str | None:
        """The body's path of a local notebook, or None. Raises `HTTPError` 422 for an invalid path."""
        notebook = self.body.get("notebook")
        if notebook is None or isinstance(notebook, str):
            return notebook
        raise HTTPError(422, "notebook must be the path of a notebook")

    @asynccontextmanager
    async def new_copy(self, notebook: str) -> AsyncIterator[NewCopy]:
        """Store a copy of a saved notebook and yield it. Raises `HTTPError` 404 for an unknown notebook."""
        content = await read_notebook(self.contents_manager, notebook)
        async with self.copies.new(notebook, content) as copy:
            yield copy

    async def pass_on_with(self, copy: NewCopy, call: Call) -> None:
        """Answer with the service's answer to a call and with `copy_message`."""
        answer = await self.connection.answer(call)
        self.begin_with(answer)
        self.finish({**answer.json(), "copy_message": copy.message})


class SchedulesHandler(_NotebookHandler):
    """All schedules, or those of a notebook; creating one."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with a page of schedules, or with `notebook=PATH` those that run this notebook.

        These run copies of it, or the note that it is a copy of, which is `note` without its document; else null.
        """
        notebook = self.get_query_argument("notebook", None)
        if notebook is None:
            await self.pass_on(Call("GET", paths.api("scheduler"), self.query))
            return
        note = await self.note_of(notebook)
        schedules = await self.schedules_of(notebook, note["id"] if note else None)
        self.finish({"schedules": schedules, "note": note})

    @asks_the_service
    async def post(self) -> None:
        """Create a schedule.

        With `notebook`, the path of a saved local notebook, a copy of it is stored first and is what runs; `command`
        then needs no path. All other fields are the service's. If the service refuses, no copy is left. In the answer
        `copy_message` says what of the notebook was repaired for the copy, or is null. Of a notebook that is a note,
        the note runs, and nothing is stored.
        """
        body, notebook = self.body, self.notebook
        if notebook is None:
            await self.pass_on(Call("POST", paths.api("scheduler"), body=body))
            return
        if (note := await self.saved_note_of(notebook)) is not None:
            await self.pass_on(Call("POST", paths.api("scheduler"), body=_of_note(body, note)))
            return
        command = {"upload_to_source": False, **_command(body)}
        async with self.new_copy(notebook) as copy:
            fields = without(body, "notebook") | {"command_type": _TYPE, "command": {**command, "path": copy.path}}
            await self.pass_on_with(copy, Call("POST", paths.api("scheduler"), body=fields))
        await self.remove_unused_copies()


class NotebookRunsHandler(_NotebookHandler):
    """Run a notebook once as a schedule would; the newest runs by hand."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with the newest run by hand of each schedule in the last seven days."""
        runs: RunsByHand = self.settings[RUNS_BY_HAND]
        self.finish({"runs": await runs.newest()})

    @asks_the_service
    async def post(self) -> None:
        """Submit the command of a schedule's body; answer with the command's record.

        With `notebook`, a separate copy is stored first and runs, or the note that it is; else the `path` or the
        `note_id` of `command`. `schedule` is the id of the schedule whose run by hand it is, if it is one.
        `copy_message` is as for a new schedule.
        """
        body, notebook = self.body, self.notebook
        if notebook is not None and (note := await self.saved_note_of(notebook)) is not None:
            body, notebook = _of_note(body, note), None
        command = _command(body)
        if "note_id" not in command:
            command = {"upload_to_source": False, **command}
        if notebook is None:
            async with self.copies.staying():
                await self.pass_on(_submission(body, command))
        else:
            async with self.new_copy(notebook) as copy:
                await self.pass_on_with(copy, _submission(body, {**command, "path": copy.path}))
        await self.remove_unused_copies()


def _submission(body: dict[str, Any], command: dict[str, Any]) -> Call:
    kind = _OF_NOTES if "note_id" in command else _TYPE
    submission = submission_of({**body, "command_type": kind, "command": command})
    schedule_id = body.get("schedule")
    if isinstance(schedule_id, int):
        submission["tags"] = tags_of(schedule_id)
    return Call("POST", paths.api("commands"), body=submission)


class ScheduleCopyHandler(_NotebookHandler):
    """The copies of a notebook's schedules."""

    @asks_the_service
    async def get(self) -> None:
        """Answer whether the copies of `notebook` run the same as the saved notebook: `{"path", "is_current"}`.

        `path` is an outdated copy, if there is one.
        """
        notebook = self.get_query_argument("notebook")
        content = await read_notebook(self.contents_manager, notebook)
        places = [record["command"]["path"] for record in await self.scheduled(notebook)]
        for place in dict.fromkeys(places):
            if not await self._runs_the_same(place, content):
                self.finish({"path": place, "is_current": False})
                return
        self.finish({"path": places[0], "is_current": True})

    @asks_the_service
    async def put(self) -> None:
        """Store the saved notebook again: `{"notebook": PATH}`; later runs of its schedules use it.

        `copy_message` is as for a new schedule.
        """
        notebook = self.notebook
        if notebook is None:
            raise HTTPError(422, "notebook must be the path of a notebook")
        first, *others = await self.scheduled(notebook)
        async with self.new_copy(notebook) as copy:
            await self._take(first, copy.path)
        for record in others:
            await self._take(record, copy.path)
        self.finish({"path": copy.path, "is_current": True, "copy_message": copy.message})
        await self.remove_unused_copies()

    async def _take(self, record: dict[str, Any], place: str) -> None:
        command = {**record["command"], "path": place}
        await self.connection.answer(Call("PUT", paths.schedule(record["id"]), body={"command": command}))

    async def _runs_the_same(self, place: str, content: dict[str, Any]) -> bool:
        """Return whether a copy runs the same as a notebook; False when the copy no longer exists."""
        try:
            answer = await self.connection.answer(Call("GET", resource(place)))
        except NotFound:
            return False
        return same_to_run(content, answer.json()["content"])


class CopyComparisonHandler(_NotebookHandler):
    """What differs between a saved notebook and the copy that its schedules run."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with `cells`, the copy's on the left, without outputs."""
        notebook = self.get_query_argument("notebook")
        content = await read_notebook(self.contents_manager, notebook)
        [record, *_] = await self.scheduled(notebook)
        copy = (await self.connection.answer(Call("GET", resource(record["command"]["path"])))).json()["content"]
        self.finish(await comparison(_without_outputs(copy), _without_outputs(content)))


class ParametersHandler(ServiceHandler):
    """The parameters that a notebook declares; the service is not asked."""

    @authenticated
    @authorized
    async def post(self) -> None:
        """Answer with the `parameters` of the body's `notebook`, of which only cells and metadata count.

        Each has `name`, `code` (its default as written), `type` and `text`: the type and the value of a literal, both
        null for other code. `problem` says why there are none when its cell of parameters cannot be read.
        """
        notebook = self.body.get("notebook")
        if not isinstance(notebook, dict):
            raise HTTPError(422, "notebook must be a notebook")
        problem, found = None, None
        try:
            found = parameters_in(notebook)
        except Unreadable as error:
            problem = str(error)
        self.finish({"parameters": [_shown(each) for each in found or ()], "problem": problem})


def _shown(parameter: Parameter) -> dict[str, Any]:
    """Return a parameter for the page, where numbers lose digits: the value is a text."""
    value = parameter.value
    text = value if value is None or isinstance(value, str) else json.dumps(value)
    return {"name": parameter.name, "code": parameter.code, "type": parameter.type, "text": text}


def _without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    return {"cells": [without(cell, "outputs") for cell in notebook.get("cells", [])]}


def runs(record: dict[str, Any], notebook: str, places: CopyPaths) -> bool:
    """Return whether an unfinished schedule runs a copy of a local notebook."""
    if record.get("command_type") != _TYPE or record.get("status") not in _OPEN:
        return False
    return places.is_copy_of(notebook, (record.get("command") or {}).get("path"))


def _runs_note(record: dict[str, Any], note: int) -> bool:
    """Return whether an unfinished schedule runs a note."""
    if record.get("command_type") != _OF_NOTES or record.get("status") not in _OPEN:
        return False
    return (record.get("command") or {}).get("note_id") == note


def _of_note(body: dict[str, Any], note: int) -> dict[str, Any]:
    """Return the body of a schedule, or of a run, of a note instead of a notebook."""
    command = {**_command(body), "note_id": note, "language": "notebook"}
    return without(body, "notebook") | {"command_type": _OF_NOTES, "command": command}


def _command(body: dict[str, Any]) -> dict[str, Any]:
    command = body.get("command") or {}
    if not isinstance(command, dict):
        raise HTTPError(422, "command must be an object")
    return command


NOTEBOOK_SCHEDULE_HANDLERS = (
    (r"schedules", SchedulesHandler),
    (r"schedules/copy", ScheduleCopyHandler),
    (r"schedules/copy/comparison", CopyComparisonHandler),
    (r"runs", NotebookRunsHandler),
    (r"notebook_parameters", ParametersHandler),
)
