"""`%svc_notebooks`: the notebooks and folders stored in the service."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import output_options, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.jupyter_contents import Contents
    from svc_jupyter.client import Client

COLUMNS = ("name", "type", "path", "size", "last_modified", "writable")
_UPLOAD = "upload"


class ContentsMagics(SvcFamily):
    """The magic for the service's notebooks and folders."""

    @line_magic
    @argument("path", metavar="PATH", nargs="?", help="Folder to list (default: the roots), or: upload FILE.")
    @argument("file", metavar="FILE", nargs="?", help="With upload: file to store.")
    @argument("--to", metavar="PATH", help="With upload: target folder or path (default: your own folder).")
    @output_options
    def svc_notebooks(self, line: str) -> pd.DataFrame:
        """List a folder of the service's notebooks as a DataFrame: `%svc_notebooks Users/ann@example.com`.

        `%svc_notebooks upload report.ipynb` stores a file of this machine in your own folder and lists it.
        """
        values = parse(self.svc_notebooks, line)
        if values.path == _UPLOAD:
            frame = self._upload(values)
        elif values.file is not None or values.to is not None:
            raise SvcUsageError("svc_notebooks: FILE and --to belong to upload: %svc_notebooks upload FILE --to PATH")
        else:
            frame = ask(lambda: contents_frame(self.session.client().jupyter_contents.list(values.path or "")), "list")
        return self.shown(values, frame)

    def _upload(self, values: argparse.Namespace) -> pd.DataFrame:
        if values.file is None:
            raise SvcUsageError("svc_notebooks upload: name the file: %svc_notebooks upload report.ipynb")
        file = Path(values.file).expanduser()
        if not file.is_file():
            raise SvcUsageError(f"svc_notebooks upload: there is no file {values.file}")

        def store() -> Contents:
            client = self.session.client()
            try:
                return client.jupyter_contents.upload(file, to=values.to or own_folder(client))
            except OSError as error:
                raise SvcUsageError(f"svc_notebooks upload: {values.file}: {error.strerror}") from None

        stored = ask(store, "upload")
        if stored.message:
            print(stored.message)  # noqa: T201  the answer is the output
        return contents_frame([stored])


def own_folder(client: Client) -> str:
    """Return the caller's own folder."""
    return f"Users/{client.account.get().email}/"


def contents_frame(contents: list[Contents]) -> pd.DataFrame:
    """Return a row per entry, folders first; `size` is in bytes."""
    entries = sorted(contents, key=lambda entry: (entry.type != "directory", entry.name.casefold()))
    rows = [[getattr(entry, column, None) for column in COLUMNS] for entry in entries]
    return frame_of(COLUMNS, rows, times=("last_modified",), integers=("size",))
