"""Store the copies of notebooks that schedules run, and remove unused ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.states import CommandStatus, ScheduleStatus
from svc_jupyter.client.conversations.jupyter_contents import content_body, resource
from svc_jupyter.client.errors import NotFound, StatusError, SvcError
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.connection import ServiceConnection
from svc_jupyter.server.copies_file import CopiesFile
from svc_jupyter.server.scheduled_copies import CopyPlaces, parents_of, place_in

COPIES = "svc_jupyter_copies"
"""The key of the keeper in the web application's settings."""
_SERVER_ERROR = 500
_OF_NOTEBOOKS = f"{CommandType.JUPYTER_NOTEBOOK},{CommandType.COMPOSITE}"
_UNENDED = (CommandStatus.WAITING, CommandStatus.RUNNING)
"""In the order of a command's life: a command that starts between the two queries is in the first one."""
_MOST = 100
_EVER = "2000-01-01"
REMOVAL_SECONDS = 10.0
"""How long a removal may keep others from storing copies."""


class CopyKeeper:
    """The copies of this Jupyter server in the service. Every method raises `SvcError`."""

    def __init__(self, connection: ServiceConnection, file: CopiesFile) -> None:
        self._connection = connection
        self._file = file

    async def places(self) -> CopyPlaces:
        """Return the location of this server's copies."""
        client = await self._connection.client()
        return CopyPlaces((await client.account.get()).email, await self._file.server())

    @asynccontextmanager
    async def new(self, local_path: str, content: Mapping[str, Any]) -> AsyncIterator[str]:
        """Store a copy of a notebook and yield its path; the caller creates what runs it.

        A refusal by the service leaves no copy.
        """
        folder = (await self.places()).new_folder()
        place, is_stored = place_in(folder, local_path), False
        async with self._file.in_the_making():
            try:
                await self._store(place, content)
                is_stored = True
                yield place
            except StatusError as error:
                if not is_stored or error.status < _SERVER_ERROR:  # otherwise it may have been created anyway
                    with suppress(SvcError):  # the refusal is reported; a later removal finds the folder
                        await self._remove(folder)
                raise

    @asynccontextmanager
    async def staying(self) -> AsyncIterator[None]:
        """Keep all copies while a run of one of them is being started."""
        async with self._file.in_the_making():
            yield

    async def remove_unused(self) -> None:
        """Remove this server's copies that no schedule can run any more and no command waits for or runs.

        No process can store a copy meanwhile, so the removal does not wait for an unresponsive service: a later call
        removes the rest.
        """
        places = await self.places()
        try:
            async with asyncio.timeout(REMOVAL_SECONDS), self._file.alone():
                await self._remove_unused(places)
        except TimeoutError:
            raise SvcError(f"that took more than {REMOVAL_SECONDS:g} s") from None

    async def _remove_unused(self, places: CopyPlaces) -> None:
        names = await self._own_names(places)
        used = await self._uses() if names else None
        if used is None:
            return
        for name in names:
            if name not in used:
                await self._remove(f"{places.folder}/{name}")

    async def _store(self, place: str, content: Mapping[str, Any]) -> None:
        for folder in parents_of(place):
            await self._connection.answer(Call("PUT", resource(folder), body={"type": "directory"}))
        await self._connection.answer(Call("PUT", resource(place), body=content_body(dict(content))))

    async def _remove(self, folder: str) -> None:
        with suppress(NotFound):
            await self._connection.answer(Call("DELETE", resource(folder)))

    async def _own_names(self, places: CopyPlaces) -> list[str]:
        try:
            answer = await self._connection.answer(Call("GET", resource(places.folder), {"type": "directory"}))
        except NotFound:
            return []
        return places.own(child["name"] for child in answer.json()["content"])

    async def _uses(self) -> str | None:
        """Return the text of everything that runs or may run; None when there is too much to be certain.

        Schedules are read first: if one changes its copy afterwards, commands with the former copy are in the next
        answers. A paged list shifts while it is read, so more than one page of commands is too much.
        """
        answer = await self._connection.answer(Call("GET", paths.api("scheduler"), {"page": "all"}))
        # Actions of a finished schedule can be rerun; those of a killed one cannot.
        schedules = [one["command"] for one in answer.json()["schedules"] if one["status"] != ScheduleStatus.KILLED]
        texts = [json.dumps(schedules)]
        for status in _UNENDED:
            wanted = {
                "all_users": True,
                "status": status.value,
                "command_type": _OF_NOTEBOOKS,
                "start_date": _EVER,
                "per_page": _MOST,
            }
            page = await self._connection.answer(Call("GET", paths.api("commands"), wanted))
            if page.json()["paging_info"]["next_page"] is not None:
                return None
            texts.append(page.text)
        return "\n".join(texts)
