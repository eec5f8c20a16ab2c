"""`schedules`: of the notebook that stands open, and all others."""

from __future__ import annotations

import asyncio
from typing import Any

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.client.conversations.jupyter_contents import resource
from svc_jupyter.client.errors import NotFound
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.schedules import submission_of
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service, without
from svc_jupyter.server.local_files import read_notebook
from svc_jupyter.server.scheduled_copies import parents_of, place_of, same_to_run

_TYPE = "JupyterNotebookCommand"
_OPEN = ("RUNNING", "SUSPENDED")


class SchedulesHandler(ServiceHandler):
    """All schedules, or those of a notebook; making one."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with a page of schedules, or with `notebook=PATH` with those that run this notebook's copy."""
        notebook = self.get_query_argument("notebook", None)
        if notebook is None:
            await self.pass_on(Call("GET", paths.api("scheduler"), self.query))
            return
        place = await copy_of(self, notebook)
        answer = await self.connection.answer(Call("GET", paths.api("scheduler"), {"page": "all"}))
        found = [record for record in answer.json()["schedules"] if runs(record, place)]
        self.finish({"schedules": found})

    @asks_the_service
    async def post(self) -> None:
        """Make a schedule.

        With `notebook`, the path of a saved local notebook, its copy is stored first and is what runs; `command` then
        needs no path. Everything else is the service's own.
        """
        body = self.body
        notebook = body.get("notebook")
        if notebook is None:
            await self.pass_on(Call("POST", paths.api("scheduler"), body=body))
            return
        if not isinstance(notebook, str):
            raise HTTPError(422, "notebook must be the path of a notebook")
        place = await store_copy(self, notebook)
        command = {"upload_to_source": False, **_command(body), "path": place}
        fields = without(body, "notebook") | {"command_type": _TYPE, "command": command}
        await self.pass_on(Call("POST", paths.api("scheduler"), body=fields))


class NotebookRunsHandler(ServiceHandler):
    """Running a notebook as a schedule would, now and once, without making one."""

    @asks_the_service
    async def post(self) -> None:
        """Submit the command of a schedule's body; answer with the command's record.

        With `notebook` its copy is stored first and is what runs, else what `command` names in `path`.
        """
        body = self.body
        command = {"upload_to_source": False, **_command(body)}
        notebook = body.get("notebook")
        if notebook is not None:
            if not isinstance(notebook, str):
                raise HTTPError(422, "notebook must be the path of a notebook")
            command["path"] = await store_copy(self, notebook)
        submission = submission_of({**body, "command_type": _TYPE, "command": command})
        await self.pass_on(Call("POST", paths.api("commands"), body=submission))


class ScheduleCopyHandler(ServiceHandler):
    """The copy that a notebook's schedules run."""

    @asks_the_service
    async def get(self) -> None:
        """Answer whether the copy of `notebook` runs what the saved notebook would: `{"path", "is_current"}`."""
        notebook = self.get_query_argument("notebook")
        content = await read_notebook(self.contents_manager, notebook)
        place = await copy_of(self, notebook)
        stored = (await self.connection.answer(Call("GET", resource(place)))).json()
        self.finish({"path": place, "is_current": same_to_run(content, stored["content"])})

    @asks_the_service
    async def put(self) -> None:
        """Store the saved notebook again: `{"notebook": PATH}`; later runs take it."""
        notebook = self.body.get("notebook")
        if not isinstance(notebook, str):
            raise HTTPError(422, "notebook must be the path of a notebook")
        place = await store_copy(self, notebook)
        self.finish({"path": place, "is_current": True})


def runs(record: dict[str, Any], place: str) -> bool:
    """Return whether a schedule that is not over runs the notebook at a place."""
    command = record.get("command") or {}
    return record.get("command_type") == _TYPE and record.get("status") in _OPEN and command.get("path") == place


async def copy_of(handler: ServiceHandler, notebook: str) -> str:
    """Return where the copy of a local notebook lies in the service."""
    client = await handler.connection.client()
    return place_of((await client.account.get()).email, notebook)


async def store_copy(handler: ServiceHandler, notebook: str) -> str:
    """Store the copy of a saved local notebook; return where it lies. Raises `HTTPError` 404 when it is not there."""
    place: str
    content, place = await asyncio.gather(read_notebook(handler.contents_manager, notebook), copy_of(handler, notebook))
    store = Call("PUT", resource(place), body={"type": "notebook", "format": "json", "content": content})
    try:
        await handler.connection.answer(store)
    except NotFound:  # of the folders above it, which the first schedule of a notebook in one makes
        for folder in parents_of(place):
            await handler.connection.answer(Call("PUT", resource(folder), body={"type": "directory"}))
        await handler.connection.answer(store)
    return place


def _command(body: dict[str, Any]) -> dict[str, Any]:
    command = body.get("command") or {}
    if not isinstance(command, dict):
        raise HTTPError(422, "command must be an object")
    return command


NOTEBOOK_SCHEDULE_HANDLERS = (
    (r"schedules", SchedulesHandler),
    (r"schedules/copy", ScheduleCopyHandler),
    (r"runs", NotebookRunsHandler),
)
