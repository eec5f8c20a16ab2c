"""`notes` and `dashboards`: what lies in the folders."""

from __future__ import annotations

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.client.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service
from svc_jupyter.server.local_files import read_notebook, save_beside

_CREATED = 201
_SUFFIX = ".ipynb"
_MARK = "svc_jupyter"
"""Where a copy's metadata say which note it is of."""


class NoteHandler(ServiceHandler):
    """One note."""

    @asks_the_service
    async def put(self, note_id: str) -> None:
        """Rename or move it: `{name}`, `{location}`."""
        await self.pass_on(Call("PUT", _note(note_id), body=self.body))

    @asks_the_service
    async def delete(self, note_id: str) -> None:
        """Delete it, with the dashboards that show it."""
        await self.pass_on(Call("DELETE", _note(note_id)))


class NoteCopyHandler(ServiceHandler):
    """A note as a notebook of this server."""

    @asks_the_service
    async def post(self, note_id: str) -> None:
        """Store a copy in the local folder `to`, under a free name made from `name`; answer with its model.

        Its metadata say of which note it is and of which version, so that it can be saved back.
        """
        name, folder = self.body.get("name"), self.body.get("to")
        if not isinstance(name, str) or not isinstance(folder, str) or not name or "/" in name:
            raise HTTPError(422, "name must be a name, and to a path")
        # Asked for before the document: who edits in between is told of a conflict, and nothing is overwritten.
        version = (await self.connection.answer(Call("GET", _note(note_id)))).json().get("version")
        export = Call("GET", _note(note_id, "export"), {"format": "ipynb"}, accept=f"{paths.NOTEBOOK}, */*")
        notebook = (await self.connection.answer(export)).json()
        notebook["metadata"][_MARK] = {"note": int(note_id), "version": version}
        model = {"name": name + _SUFFIX, "type": "notebook", "format": "json", "content": notebook}
        saved = await save_beside(self.contents_manager, model, folder)
        self.set_status(_CREATED)
        self.finish(saved)


class NoteDocumentHandler(ServiceHandler):
    """What a note says."""

    @asks_the_service
    async def put(self, note_id: str) -> None:
        """Save its local copy `path` as what the note says, whose former state stays among its revisions.

        409 when somebody has edited the note since the version that the copy's metadata name; `overwrite` saves then
        too. The answer has the new `version`, which the copy's metadata are to name from now on.
        """
        path, overwrite = self.body.get("path"), self.body.get("overwrite", False)
        if not isinstance(path, str) or not isinstance(overwrite, bool):
            raise HTTPError(422, "path must be the path of a notebook of this server, and overwrite true or false")
        notebook = await read_notebook(self.contents_manager, path)
        mark = notebook["metadata"].pop(_MARK, None)
        if not isinstance(mark, dict) or mark.get("note") != int(note_id):
            raise HTTPError(422, f"{path} is no copy of note {note_id}: open the note, and save what is opened")
        version = mark.get("version")
        known = () if overwrite or not isinstance(version, int) else (("If-Match", f'"{version}"'),)
        await self.pass_on(Call("PUT", _note(note_id, "import"), body=notebook, headers=known))


class DashboardHandler(ServiceHandler):
    """One dashboard."""

    @asks_the_service
    async def put(self, dashboard_id: str) -> None:
        """Rename or move it: `{name}`, `{location}`."""
        await self.pass_on(Call("PUT", _dashboard(dashboard_id), body=self.body))

    @asks_the_service
    async def delete(self, dashboard_id: str) -> None:
        """Delete it."""
        await self.pass_on(Call("DELETE", _dashboard(dashboard_id)))


def _note(note_id: str, part: str = "") -> str:
    resource = f"notebooks/{int(note_id)}"
    return paths.api(f"{resource}/{part}" if part else resource)


def _dashboard(dashboard_id: str) -> str:
    return paths.api(f"notebook_dashboard/{int(dashboard_id)}")


_ID = r"([0-9]{1,18})"
NOTE_HANDLERS = (
    (rf"notes/{_ID}", NoteHandler),
    (rf"notes/{_ID}/copy", NoteCopyHandler),
    (rf"notes/{_ID}/document", NoteDocumentHandler),
    (rf"dashboards/{_ID}", DashboardHandler),
)
