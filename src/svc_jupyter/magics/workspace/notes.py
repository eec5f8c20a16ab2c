"""`%svc_notes`: Spark notebooks that the service stores as documents."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import out_option, output_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.workspace.note_answer import NoteAnswer
from svc_jupyter.magics.workspace.notebooks import own_folder
from svc_jupyter.magics.workspace.places import note_called, path_of, split_location

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from svc_jupyter.api.dashboards import DashboardSummary
    from svc_jupyter.api.notes import Note, NoteRevision, NoteSummary
    from svc_jupyter.client import Client

_WHOLE_PAGE = 100
_FORMATS = {".zpln": "zpln", ".ipynb": "ipynb"}
_the_note = argument("note", metavar="NOTE", help="Location of the note, such as Common/reports/late, or its id.")
_cluster_option = argument("--cluster", metavar="ID", type=int, help="Bind the note to this cluster.")


class NoteMagics(SvcFamily):
    """The magic for notes."""

    @line_magic
    @argument("action", metavar="ACTION", nargs="?", help="What to do (default: list).")
    def svc_notes(self, line: str) -> Any:
        """Manage the notes of the service. Each action has its own options: `%svc_notes import --help`.

        list [FOLDER], show NOTE, create NOTE, import FILE, export NOTE, rename NOTE NAME, move NOTE FOLDER, clone NOTE,
        bind NOTE CLUSTER, revisions NOTE, restore NOTE NUMBER, publish NOTE FOLDER, dashboards NOTE, delete NOTE.
        """
        return self.act("svc_notes", line, "list")

    @action("svc_notes list")
    @argument("folder", metavar="FOLDER", nargs="?", default="Common", help="Location of a folder (default: Common).")
    @output_options
    def list_notes(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the notes of a folder as a DataFrame, by name."""
        location = values.folder.strip("/")
        return self.shown(values, ask(lambda: notes_frame(self._client.folders.get(location).notes), "list"))

    @action("svc_notes show")
    @_the_note
    @out_option("the note")
    def show(self, values: argparse.Namespace) -> NoteAnswer:
        """Show a note: its text, its forms and its cluster."""
        note = ask(lambda: self._client.notes.get(note_called(self._client, values.note).id), "note")
        return self.keep(values, NoteAnswer(note))

    @action("svc_notes create")
    @argument("note", metavar="NOTE", help="Location of the new note, such as Common/reports/late.")
    @argument("--note-type", metavar="TYPE", choices=("spark", "presto"), help="spark (default) or presto.")
    @_cluster_option
    def create(self, values: argparse.Namespace) -> None:
        """Create an empty note."""
        parent, name = split_location(values.note)
        if not parent:
            raise SvcUsageError(f"svc_notes create: say where, as in %svc_notes create Common/{values.note}")
        fields = {"note_type": values.note_type, "cluster_id": values.cluster}
        _print(ask(lambda: self._client.notes.create(parent, name, **fields), "create"))

    @action("svc_notes import")
    @argument("file", metavar="FILE", help="A .zpln or .ipynb file on this machine.")
    @argument("--to", dest="folder", metavar="FOLDER", help="Target folder (default: your own).")
    @argument("--name", metavar="NAME", help="Name of the note (default: that of the file).")
    @_cluster_option
    def import_file(self, values: argparse.Namespace) -> None:
        """Create a note from a file."""
        note = ask(lambda: imported(self._client, values), "import")
        _print(note)
        if note.message:
            print(note.message)  # noqa: T201  the answer is the output

    @action("svc_notes export")
    @_the_note
    @argument("--to", dest="file", metavar="FILE", help="File (default: the note's name in this folder).")
    @argument(
        "--format", metavar="FORMAT", choices=("zpln", "ipynb"), help="zpln or ipynb (default: by the file's suffix)."
    )
    @argument("--yes", action="store_true", help="Replace an existing file.")
    def export(self, values: argparse.Namespace) -> None:
        """Write a note to a file on this machine; the file can be imported without loss."""
        file = ask(lambda: exported(self._client, values), "export")
        print(f"{file} · {Path(file).stat().st_size:,} bytes")  # noqa: T201  the answer is the output

    @action("svc_notes rename")
    @_the_note
    @argument("name", metavar="NAME", help="New name; quote a name with spaces.")
    def rename(self, values: argparse.Namespace) -> None:
        """Rename a note in its folder."""
        self._update(values, name=values.name)

    @action("svc_notes move")
    @_the_note
    @argument("folder", metavar="FOLDER", help="Location of the target folder.")
    def move(self, values: argparse.Namespace) -> None:
        """Move a note to another folder; its id, policy and schedules stay."""
        self._update(values, location=values.folder.strip("/"))

    @action("svc_notes bind")
    @_the_note
    @argument("cluster", metavar="CLUSTER", type=int, help="Id of the cluster; 0 for none.")
    def bind(self, values: argparse.Namespace) -> None:
        """Bind a note to a cluster."""
        self._update(values, cluster_id=values.cluster)

    @action("svc_notes clone")
    @_the_note
    @argument("--to", dest="folder", metavar="FOLDER", help="Folder of the copy (default: that of the note).")
    @argument("--name", metavar="NAME", help="Name of the copy (default: a free name).")
    def clone(self, values: argparse.Namespace) -> None:
        """Copy a note."""
        location = values.folder.strip("/") if values.folder else None
        _print(ask(lambda: self._client.notes.clone(self._id(values), name=values.name, location=location), "clone"))

    @action("svc_notes revisions")
    @_the_note
    @output_options
    def revisions(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the revisions of a note as a DataFrame, newest first."""

        def fetch() -> pd.DataFrame:
            return revisions_frame(self._client.notes.revisions(self._id(values), per_page=_WHOLE_PAGE).revisions)

        return self.shown(values, ask(fetch, "revisions"))

    @action("svc_notes restore")
    @_the_note
    @argument("number", metavar="NUMBER", type=int, help="Number of the revision.")
    def restore(self, values: argparse.Namespace) -> None:
        """Restore a revision of a note; later revisions are kept."""
        _print(ask(lambda: self._client.notes.restore(self._id(values), values.number), "restore"))

    @action("svc_notes publish")
    @_the_note
    @argument("folder", metavar="FOLDER", help="Location of a folder of type notebook_dashboards.")
    @argument("--name", metavar="NAME", help="Name of the dashboard (default: that of the note).")
    def publish(self, values: argparse.Namespace) -> None:
        """Create a dashboard from the current state of a note."""

        def make() -> str:
            note = note_called(self._client, values.note)
            name, location = values.name or note.name, values.folder.strip("/")
            board = self._client.dashboards.create(note.id, name, location)
            return f"dashboard {board.id} · {board.location}/{board.name}"

        print(ask(make, "publish"))  # noqa: T201

    @action("svc_notes dashboards")
    @_the_note
    @output_options
    def dashboards(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the dashboards of a note as a DataFrame, newest first."""

        def fetch() -> pd.DataFrame:
            found = self._client.dashboards.of_note(self._id(values), per_page=_WHOLE_PAGE)
            return dashboards_frame(found.notebook_dashboards)

        return self.shown(values, ask(fetch, "dashboards"))

    @action("svc_notes delete")
    @_the_note
    @argument("--yes", action="store_true", help="Confirm the deletion.")
    def delete(self, values: argparse.Namespace) -> None:
        """Delete a note and its dashboards, for good."""
        note = ask(lambda: note_called(self._client, values.note), "note")
        if not values.yes:
            raise SvcUsageError(
                f"svc_notes delete: note {note.id}, {path_of(note)}, and the dashboards that show it would go for "
                "good. Nothing was deleted; add --yes to do it."
            )
        gone = ask(lambda: self._client.notes.delete(note.id), "delete")
        with_it = f" and {gone.notebook_dashboards} of its dashboards" if gone.notebook_dashboards else ""
        print(f"note {note.id} · {path_of(note)}{with_it} deleted")  # noqa: T201

    @property
    def _client(self) -> Client:
        return self.session.client()

    def _id(self, values: argparse.Namespace) -> int:
        return note_called(self._client, values.note).id

    def _update(self, values: argparse.Namespace, **fields: Any) -> None:
        _print(ask(lambda: self._client.notes.update(self._id(values), **fields), "update"))


def _print(note: NoteSummary) -> None:
    bound = f" · bound to cluster {note.cluster_id}" if note.cluster_id else ""
    print(f"note {note.id} · {path_of(note)} · version {note.version}{bound}")  # noqa: T201


def imported(client: Client, values: argparse.Namespace) -> Note:
    """Return the note created from a file. Raises SvcUsageError when it cannot be read, and the client's errors."""
    file = Path(values.file).expanduser()
    location = (values.folder or own_folder(client)).strip("/")
    try:
        return client.notes.import_file(file, location=location, name=values.name, cluster_id=values.cluster)
    except FileNotFoundError:
        raise SvcUsageError(f"svc_notes import: there is no file {values.file}") from None
    except OSError as error:
        raise SvcUsageError(f"svc_notes import: {values.file}: {error.strerror}") from None


def exported(client: Client, values: argparse.Namespace) -> str:
    """Write a note to a file and return its path. Raises SvcUsageError when it cannot, and the client's errors.

    An existing file is replaced only with `--yes`.
    """
    note = note_called(client, values.note)
    named = Path(values.file).expanduser() if values.file else None
    file_format = values.format or _FORMATS.get(named.suffix.lower() if named else "", "zpln")
    file = named or Path(f"{note.name}.{file_format}")
    content = client.notes.export(note.id, file_format)
    try:
        with file.open("wb" if values.yes else "xb") as target:
            target.write(content)
    except FileExistsError:
        raise SvcUsageError(f"svc_notes export: {file} is there already; add --yes to replace it") from None
    except OSError as error:
        raise SvcUsageError(f"svc_notes export: {file}: {error.strerror}") from None
    return str(file)


NOTE_COLUMNS = ("name", "id", "path", "note_type", "cluster_id", "version", "updated_at")
DASHBOARD_COLUMNS = ("name", "id", "path", "note_id", "note_revision", "updated_at")
REVISION_COLUMNS = ("number", "created_at", "user_id", "size")


def notes_frame(notes: Iterable[NoteSummary]) -> pd.DataFrame:
    """Return a row per note; `cluster_id` is missing if it is not bound to a cluster."""
    rows = [
        (
            note.name,
            note.id,
            f"{note.location}/{note.name}",
            note.note_type,
            note.cluster_id,
            note.version,
            note.updated_at,
        )
        for note in notes
    ]
    return frame_of(NOTE_COLUMNS, rows, times=("updated_at",), integers=("cluster_id",))


def dashboards_frame(dashboards: Iterable[DashboardSummary]) -> pd.DataFrame:
    """Return a row per dashboard, with its note and the note's revision."""
    rows = [
        (one.name, one.id, f"{one.location}/{one.name}", one.note_id, one.note_revision, one.updated_at)
        for one in dashboards
    ]
    return frame_of(DASHBOARD_COLUMNS, rows, times=("updated_at",))


def revisions_frame(revisions: Iterable[NoteRevision]) -> pd.DataFrame:
    """Return a row per revision of a note, newest first; `size` is in bytes."""
    rows = [(one.number, one.created_at, one.user_id, one.size) for one in revisions]
    return frame_of(REVISION_COLUMNS, rows, times=("created_at",))
