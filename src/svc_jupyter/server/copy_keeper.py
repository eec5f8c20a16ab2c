"""Store the copies of notebooks that schedules run, and remove unused ones.

A file in Jupyter's data folder identifies this server and is a lock between its processes: two processes of one user
may serve the same folder, and the one that removes unused copies must not remove a copy that the other has just stored
and that no schedule names yet.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.states import CommandStatus, ScheduleStatus
from svc_jupyter.client.errors import NotFound, StatusError, SvcError
from svc_jupyter.client.requests.jupyter_contents import content_body, resource
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.connection import ServiceConnection
from svc_jupyter.server.scheduled_copies import CopyPaths, parents_of, place_in

_ID_BYTES = 16
_NAME_LENGTH = 12
_LOOK_EVERY = 0.05


class CopiesFile:
    """The file of one user's servers; `root` is the root folder of this server's paths.

    Every method raises `HTTPError` 503 when the file cannot be used.
    """

    def __init__(self, file: Path, root: str) -> None:
        self._file = file
        self._root = root
        self._server: str | None = None

    async def server(self) -> str:
        """Return the name of this server, the same for every process that serves this folder to this user."""
        if self._server is None:
            async with self._locked(fcntl.LOCK_EX) as descriptor:
                with _readable_errors():
                    machine = _kept_id(descriptor)
            self._server = sha256(f"{machine}\n{self._root}".encode()).hexdigest()[:_NAME_LENGTH]
        return self._server

    @asynccontextmanager
    async def in_the_making(self) -> AsyncIterator[None]:
        """Shared lock: while it is held, no process removes copies."""
        async with self._locked(fcntl.LOCK_SH):
            yield

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Exclusive lock: while it is held, no process stores a copy that nothing names yet."""
        async with self._locked(fcntl.LOCK_EX):
            yield

    @asynccontextmanager
    async def _locked(self, kind: int) -> AsyncIterator[int]:
        """Hold the file's lock and yield its descriptor; the lock of a killed process is released."""
        with _readable_errors():
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _took(descriptor, kind):  # noqa: ASYNC110 - it is other processes that are waited for
                await asyncio.sleep(_LOOK_EVERY)
            yield descriptor
        finally:
            os.close(descriptor)


def _took(descriptor: int, kind: int) -> bool:
    with _readable_errors():
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise
            return False
    return True


def _kept_id(descriptor: int) -> str:
    """Return the id in a locked file; write a new one if there is none."""
    kept = os.pread(descriptor, 2 * _ID_BYTES, 0).decode("ascii", "replace")
    if len(kept) == 2 * _ID_BYTES:
        return kept
    made = secrets.token_hex(_ID_BYTES)
    os.pwrite(descriptor, made.encode(), 0)
    return made


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HTTPError(
            503,
            f"the list of this server's scheduled copies cannot be kept in Jupyter's data folder ({error}): "
            "see that it is writable and has room, then try again",
        ) from error


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


@dataclass(frozen=True, slots=True)
class NewCopy:
    """A copy that was stored; `message` says what of the notebook was repaired for it, if anything."""

    path: str
    message: str | None


class CopyKeeper:
    """The copies of this Jupyter server in the service. Every method raises `SvcError`."""

    def __init__(self, connection: ServiceConnection, file: CopiesFile) -> None:
        self._connection = connection
        self._file = file

    async def places(self) -> CopyPaths:
        """Return the location of this server's copies."""
        client = await self._connection.client()
        return CopyPaths((await client.account.get()).email, await self._file.server())

    @asynccontextmanager
    async def new(self, local_path: str, content: Mapping[str, Any]) -> AsyncIterator[NewCopy]:
        """Store a copy of a notebook and yield it; the caller creates what runs it.

        A refusal by the service leaves no copy.
        """
        folder = (await self.places()).new_folder()
        place, is_stored = place_in(folder, local_path), False
        async with self._file.in_the_making():
            try:
                message = await self._store(place, content)
                is_stored = True
                yield NewCopy(place, message)
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

    async def _remove_unused(self, places: CopyPaths) -> None:
        names = await self._own_names(places)
        used = await self._uses() if names else None
        if used is None:
            return
        for name in names:
            if name not in used:
                await self._remove(f"{places.folder}/{name}")

    async def _store(self, place: str, content: Mapping[str, Any]) -> str | None:
        for folder in parents_of(place):
            await self._connection.answer(Call("PUT", resource(folder), body={"type": "directory"}))
        stored = await self._connection.answer(Call("PUT", resource(place), body=content_body(dict(content))))
        message: str | None = stored.json().get("message")
        return message

    async def _remove(self, folder: str) -> None:
        with suppress(NotFound):
            await self._connection.answer(Call("DELETE", resource(folder)))

    async def _own_names(self, places: CopyPaths) -> list[str]:
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
