"""Notes from and to files of this machine, `.zpln` or `.ipynb`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.workspace.notebooks import own_folder
from svc_jupyter.magics.workspace.places import note_called

if TYPE_CHECKING:
    from svc_jupyter.api.notes import Note
    from svc_jupyter.client import Client

_FORMATS = {".zpln": "zpln", ".ipynb": "ipynb"}


def imported(client: Client, values: argparse.Namespace) -> Note:
    """Return the note that was made of a file. Raises SvcUsageError when it cannot be read, and the client's errors."""
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

    A file that is there is replaced with `--yes` only.
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
