"""`notes` and `dashboards`: the items of folders."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.client.errors import NotFound
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service, without
from svc_jupyter.server.local_files import read_notebook, save_beside
from svc_jupyter.server.note_bindings import NoteBinding, NoteBindings, new_key

NOTE_BINDINGS = "svc_jupyter_note_bindings"
"""The key of the bindings in the web application's settings."""
_CREATED, _CONFLICT, _TO_BE_ASKED = 201, 409, 428
_ID = r"([0-9]{1,18})"


_SUFFIX = ".ipynb"
_MARK = "svc_jupyter"
"""Metadata of a copy: its note, and the key of its binding on this server."""
T = TypeVar("T")


class NotesOfNotebooks(ServiceHandler):
    """Knows which notebooks are copies of notes."""

    async def note_of(self, path: str) -> dict[str, Any] | None:
        """Return the note that the notebook at a path is saved to, without its document; None when it is none."""
        found = await self._bound(path)
        return None if found is None else _summary(found[0])

    async def saved_note_of(self, path: str) -> int | None:
        """Return the id of this note. Raises `HTTPError` 409 when it was edited since the notebook was saved to it."""
        found = await self._bound(path)
        if found is None:
            return None
        note, binding = found
        if binding.version is not None and note.get("version") != binding.version:
            raise HTTPError(
                _CONFLICT,
                f"somebody else has saved the note {note['location']}/{note['name']} since {path} was opened or saved: "
                "open the note again, or save yours over it",
            )
        return int(note["id"])

    async def _bound(self, path: str) -> tuple[dict[str, Any], NoteBinding] | None:
        """Return the record of the note that the notebook at a path is saved to, and its binding."""
        binding = await self.known(path)
        if binding is None or not binding.is_allowed:
            return None
        mark = (await read_notebook(self.contents_manager, path))["metadata"].get(_MARK)
        key = str(mark.get("key", "")) if isinstance(mark, dict) else ""
        if not binding.binds(await self.service_address(), binding.note, key):
            return None
        try:
            return await self.note(str(binding.note)), binding
        except NotFound:
            return None

    async def known(self, path: str) -> NoteBinding | None:
        """Return the binding of the notebook at a path."""
        return await self._with_bindings(lambda bindings: bindings.find(path))

    async def keep(self, path: str, binding: NoteBinding) -> None:
        """Store the binding of the notebook at a path."""
        await self._with_bindings(lambda bindings: bindings.keep(path, binding))

    async def service_address(self) -> str:
        """Return the address of the service with the notes."""
        return str((await self.connection.client()).settings.base_url)

    async def note(self, note_id: str) -> dict[str, Any]:
        """Return the record of a note."""
        record: dict[str, Any] = (await self.connection.answer(Call("GET", _note(note_id)))).json()
        return record

    async def _with_bindings(self, use: Callable[[NoteBindings], T]) -> T:
        bindings: NoteBindings = self.settings[NOTE_BINDINGS]
        try:
            return await asyncio.to_thread(use, bindings)
        except (OSError, sqlite3.Error) as error:
            raise HTTPError(
                503,
                f"what binds notebooks to notes cannot be read or kept in Jupyter's data folder ({error}): "
                "see that it is writable and has room, then save again",
            ) from error


class NoteCopyHandler(NotesOfNotebooks):
    """A note as a notebook of this server."""

    @asks_the_service
    async def post(self, note_id: str) -> None:
        """Store a copy in the local folder `to`, under a free name made from `name`; answer with its model.

        This server records the note and its version, so that the copy can be saved back.
        """
        name, folder = self.body.get("name"), self.body.get("to")
        if not isinstance(name, str) or not isinstance(folder, str) or not name or "/" in name:
            raise HTTPError(422, "name must be a name, and to a path")
        # Read before the document: an edit in between causes a conflict and is not overwritten.
        note = await self.note(note_id)
        export = Call("GET", _note(note_id, "export"), {"format": "ipynb"}, accept=f"{paths.NOTEBOOK}, */*")
        notebook = (await self.connection.answer(export)).json()
        if note.get("note_type", "spark") == "spark":
            give_kernel(notebook)
        binding = NoteBinding(await self.service_address(), int(note_id), new_key(), note.get("version"))
        notebook["metadata"][_MARK] = {"note": binding.note, "key": binding.key}
        model = {"name": name + _SUFFIX, "type": "notebook", "format": "json", "content": notebook}
        saved = await save_beside(self.contents_manager, model, folder)
        await self.keep(saved["path"], binding)
        self.set_status(_CREATED)
        self.finish(saved)


KERNEL: Mapping[str, str] = {"name": "svc-spark", "display_name": "Spark (svc)", "language": "python"}
"""The kernel whose cells run as the note's paragraphs do; its default language is Python."""
_SCALA = "%spark\n"


def give_kernel(notebook: dict[str, Any]) -> None:
    """Make a note's notebook one of the kernel Spark (svc).

    Paragraphs of a note that name no language are Scala unless the note is a notebook of Python: these get the name of
    their language, since they would be Python in that kernel.
    """
    former = notebook["metadata"].get("kernelspec")
    is_python = isinstance(former, dict) and former.get("language") == KERNEL["language"]
    for cell in notebook["cells"]:
        text = cell["source"]
        if cell["cell_type"] == "code" and not is_python and text.strip() and not text.lstrip().startswith("%"):
            cell["source"] = f"{_SCALA}{text}"
    notebook["metadata"]["kernelspec"] = dict(KERNEL)


class NoteClusterHandler(NotesOfNotebooks):
    """The cluster that a note is bound to."""

    @asks_the_service
    async def put(self, note_id: str) -> None:
        """Bind the note to `cluster_id`; its local copy at `path` stays current if it was."""
        path, cluster = self.body.get("path"), self.body.get("cluster_id")
        if not isinstance(path, str) or not isinstance(cluster, int):
            raise HTTPError(422, "path must be the path of a notebook of this server, and cluster_id a number")
        answer = await self.connection.answer(Call("PUT", _note(note_id), body={"cluster_id": cluster}))
        record = answer.json()
        known, version = await self.known(path), record.get("version")
        # The binding is an edit of its own; an edit of somebody else in between stays a conflict for the next save.
        if known is not None and known.version is not None and version == known.version + 1:
            await self.keep(path, replace(known, version=version))
        self.finish(_summary(record))


class NoteDocumentHandler(NotesOfNotebooks):
    """A note's document."""

    @asks_the_service
    async def get(self, note_id: str) -> None:
        """Answer with the note, without its document, and with `copied`: the version that its local copy `path` is of.

        `copied` is null for a copy that is not saved back, and where the service has no versions.
        """
        record = await self.note(note_id)
        binding = await self.known(self.get_query_argument("path", ""))
        is_copy = binding is not None and binding.is_allowed and binding.note == int(note_id)
        self.finish({**_summary(record), "copied": binding.version if binding is not None and is_copy else None})

    @asks_the_service
    async def put(self, note_id: str) -> None:
        """Save the note's local copy `path` to the note; the former document stays in its revisions.

        409 when the note has been edited since the copy was made or saved; `overwrite` saves anyway. 428 when the
        notebook names the note but this server has no binding for it: `bind` true creates one, with `bind` false the
        notebook stays local: `{"saved": false}`.
        """
        path, overwrite, bind = self.body.get("path"), self.body.get("overwrite", False), self.body.get("bind")
        if not isinstance(path, str) or not isinstance(overwrite, bool) or not isinstance(bind, bool | None):
            raise HTTPError(
                422, "path must be the path of a notebook of this server; overwrite and bind must be true or false"
            )
        notebook = await read_notebook(self.contents_manager, path)
        mark = notebook["metadata"].pop(_MARK, None)
        if not isinstance(mark, dict) or mark.get("note") != int(note_id):
            raise HTTPError(422, f"{path} is not a copy of note {note_id}: open the note, and save what is opened")
        binding = await self._binding(path, note_id, mark, bind)
        if not binding.is_allowed:
            self.finish({"saved": False})
            return
        if_match = () if overwrite or binding.version is None else (("If-Match", f'"{binding.version}"'),)
        call = Call("PUT", _note(note_id, "import"), body=notebook, headers=if_match)
        answer = await self.connection.answer(call)
        version = answer.json().get("version")
        await self.keep(path, NoteBinding(binding.service, binding.note, binding.key, version))
        self.finish_with(answer)

    async def _binding(self, path: str, note_id: str, mark: Mapping[str, Any], bind: bool | None) -> NoteBinding:
        """Return the binding of a notebook to the note it names. Raises `HTTPError` 428 when the user must be asked."""
        service, key = await self.service_address(), str(mark.get("key", ""))
        known = await self.known(path)
        if known is not None and known.binds(service, int(note_id), key) and (known.is_allowed or bind is None):
            return known
        note = await self.note(note_id)
        if bind is None:
            raise HTTPError(
                _TO_BE_ASKED,
                f"{path} says that it is a copy of the note {note['location']}/{note['name']} ({note['id']}), "
                "and was not opened from it here: if the note is to say what the notebook says, allow it",
            )
        binding = NoteBinding(service, int(note_id), key, note.get("version"), is_allowed=bind)
        await self.keep(path, binding)
        return binding


_DOCUMENT = ("paragraphs", "noteParams", "noteForms", "config", "info")


def _summary(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a note without its document, which may be large; its forms stay."""
    return without(record, *_DOCUMENT)


def _note(note_id: str, part: str = "") -> str:
    resource = f"notebooks/{int(note_id)}"
    return paths.api(f"{resource}/{part}" if part else resource)


NOTE_HANDLERS = (
    (rf"notes/{_ID}/copy", NoteCopyHandler),
    (rf"notes/{_ID}/cluster", NoteClusterHandler),
    (rf"notes/{_ID}/document", NoteDocumentHandler),
)
