"""`%svc_folders`: folders of notes and of dashboards."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import output_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.workspace.places import reference, split_location
from svc_jupyter.widgets.folders.model import open_folders
from svc_jupyter.widgets.folders.panel import FolderPanel, folder_text

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.folders import FolderContents, FolderDeletion
    from svc_jupyter.client.blocking.folders import Folders

CONTENTS_COLUMNS = ("name", "kind", "id", "path", "updated_at")
FOLDER_TYPES = ("notes", "notebook_dashboards")
_type_option = argument(
    "--type",
    metavar="TYPE",
    choices=FOLDER_TYPES,
    default=FOLDER_TYPES[0],
    help="notes (default) or notebook_dashboards.",
)
_the_folder = argument("folder", metavar="FOLDER", help="Location of the folder, such as Common/reports, or its id.")
_yes_option = argument("--yes", action="store_true", help="Confirm the deletion.")


class FolderMagics(SvcFamily):
    """The magic for folders."""

    @line_magic
    @argument("action", metavar="ACTION", nargs="?", help="What to do (default: list).")
    def svc_folders(self, line: str) -> Any:
        """Manage the folders of notes and dashboards. Each action has its own options: `%svc_folders move --help`.

        list [FOLDER], create FOLDER, rename FOLDER NAME, move FOLDER DESTINATION, delete FOLDER, panel [FOLDER].
        """
        return self.act("svc_folders", line, "list")

    @action("svc_folders list")
    @argument("folder", metavar="FOLDER", nargs="?", help="Location of the folder (default: the roots).")
    @_type_option
    @output_options
    def list_folder(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the contents of a folder as a DataFrame, folders first."""
        location = values.folder.strip("/") if values.folder else None
        frame = ask(lambda: contents_frame(self._folders.get(location, folder_type=values.type)), "list")
        return self.shown(values, frame)

    @action("svc_folders create")
    @argument("folder", metavar="FOLDER", help="Location of the new folder, such as Common/reports.")
    @_type_option
    def create(self, values: argparse.Namespace) -> None:
        """Create a folder; its parent must exist."""
        parent, name = split_location(values.folder)
        if not parent:
            raise SvcUsageError(f"svc_folders create: say where, as in %svc_folders create Common/{values.folder}")
        made = ask(lambda: self._folders.create(parent, name, folder_type=values.type), "create")
        print(f"folder {made.id} · {made.location}")  # noqa: T201  the answer is the output

    @action("svc_folders rename")
    @_the_folder
    @argument("name", metavar="NAME", help="New name; quote a name with spaces.")
    @_type_option
    def rename(self, values: argparse.Namespace) -> None:
        """Rename a folder."""
        folder = reference(values.folder)
        renamed = ask(lambda: self._folders.rename(folder, values.name, folder_type=values.type), "rename")
        print(f"folder {renamed.id} · {renamed.location}")  # noqa: T201

    @action("svc_folders move")
    @_the_folder
    @argument("destination", metavar="DESTINATION", help="Location of the target folder.")
    @_type_option
    def move(self, values: argparse.Namespace) -> None:
        """Move a folder with its contents into another one; ids, policies and schedules stay."""
        folder, destination = reference(values.folder), values.destination.strip("/")
        moved = ask(lambda: self._folders.move(folder, destination, folder_type=values.type), "move")
        print(f"folder {moved.folder.id} · {moved.message}")  # noqa: T201

    @action("svc_folders delete")
    @_the_folder
    @_type_option
    @_yes_option
    def delete(self, values: argparse.Namespace) -> None:
        """Delete a folder with its contents, for good; without --yes, show how much that is."""
        folder = reference(values.folder)
        if not values.yes:
            raise SvcUsageError(self._unconfirmed(values))
        gone = ask(lambda: self._folders.delete(folder, folder_type=values.type), "delete")
        print(f"folder {gone.folder.id} · {gone.message}")  # noqa: T201

    @action("svc_folders panel")
    @argument("folder", metavar="FOLDER", nargs="?", help="Location of the folder to open (default: Common).")
    @_type_option
    def panel(self, values: argparse.Namespace) -> Any:
        """Show the folders as a tree in which they can be created, renamed, moved and deleted.

        Without widgets, it is a text.
        """
        location = values.folder.strip("/") if values.folder else None
        model = ask(lambda: open_folders(self.session.client, values.type, location), "panel")
        return self.open_panel(lambda: FolderPanel(model), lambda: folder_text(model))

    @property
    def _folders(self) -> Folders:
        return self.session.client().folders

    def _unconfirmed(self, values: argparse.Namespace) -> str:
        folder = reference(values.folder)

        def look() -> FolderDeletion | None:
            consequences = self._folders.deletion(folder, folder_type=values.type)
            if consequences is None and isinstance(folder, str):  # or does it not exist?
                self._folders.list(folder, folder_type=values.type, per_page=1)
            return consequences

        consequences = ask(look, "deletion")
        what = f"deleting {values.folder} takes all that is in it" if consequences is None else consequences.message
        return f"svc_folders delete: {what}, for good. Nothing was deleted; add --yes to do it."


def contents_frame(contents: FolderContents) -> pd.DataFrame:
    """Return a row per folder, note and dashboard of a folder, in the service's order; folders have no times."""
    rows: list[tuple[Any, ...]] = [(one.name, "folder", one.id, one.location, None) for one in contents.folders]
    for kind, objects in (("note", contents.notes), ("dashboard", contents.notebook_dashboards)):
        rows += [(one.name, kind, one.id, f"{one.location}/{one.name}", one.updated_at) for one in objects]
    rows = [(row[0] or row[3], *row[1:]) for row in rows]
    return frame_of(CONTENTS_COLUMNS, rows, times=("updated_at",))
