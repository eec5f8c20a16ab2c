"""Which files a SQLite tap may open: databases under the allowed roots, and nothing of the service's own."""

from __future__ import annotations

from pathlib import Path

from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage.file_roots import resolve_under

_HEADER = b"SQLite format 3\x00"
_SCHEME = "file://"


def checked_file(db_name: str, settings: Settings) -> Path:
    """Return the database file that a tap names, with every symbolic link resolved.

    A relative name lies in the account's storage folder. Raises `Invalid` for a file outside the allowed roots, one
    of the service's own, a missing file, and one that is no SQLite database.
    """
    path = Path(db_name.removeprefix(_SCHEME))
    resolved = resolve_under(path if path.is_absolute() else settings.storage_dir / path, settings.allowed_file_roots)
    try:
        if _is_private(resolved, settings):
            raise Invalid(f"db_name: {db_name} is the service's own; put the database into the account's storage")
        with resolved.open("rb") as file:
            header = file.read(len(_HEADER))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Invalid(f"db_name: the file {db_name} does not exist") from error
    except OSError as error:
        raise Invalid(f"db_name: the file {db_name} cannot be read: {error.strerror}") from error
    if header not in (b"", _HEADER):
        raise Invalid(f"db_name: the file {db_name} is not a SQLite database")
    return resolved


def _is_private(path: Path, settings: Settings) -> bool:
    data_dir = settings.data_dir.resolve()
    if path.is_relative_to(data_dir) and not path.is_relative_to(settings.storage_dir.resolve()):
        return True
    own = data_dir / "service.db"
    return own.exists() and path.exists() and own.samefile(path)
