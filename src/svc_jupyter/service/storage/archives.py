"""Archives: each is unpacked into a folder named after its file, extension included."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.room import Room
from svc_jupyter.service.storage.tars import unpack_tar
from svc_jupyter.service.storage.tree import Tree
from svc_jupyter.service.storage.zips import unpack_zip

_FORMATS: Final[dict[str, Callable[[Path, str, Tree, Room], None]]] = {
    ".zip": unpack_zip,
    ".jar": unpack_zip,
    ".tar": unpack_tar,
    ".tar.gz": unpack_tar,
    ".tgz": unpack_tar,
}


def check_archive_name(name: str) -> None:
    """Raise `Invalid` when `name` is not that of a supported archive."""
    if _format_of(name) is None:
        raise Invalid(f"{name} is not an archive that can be unpacked; known are {', '.join(_FORMATS)}")


def unpack(archive: Path, folder: Path, room: Room) -> None:
    """Unpack `archive`, by its name's extension, into the new `folder`.

    Raises `StorageFailure` when it is damaged, too large, or a path in it leads out of the folder, and `Stopped` when
    the work was cancelled; `folder` is removed then.
    """
    unpack_format = _format_of(archive.name)
    if unpack_format is None:
        raise ValueError(f"{archive.name} was not checked by its name")
    folder.mkdir()
    try:
        tree = Tree(folder, archive.name, room)
        unpack_format(archive, archive.name, tree, room)
        tree.finish()
    except (OSError, UnicodeError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _system_failure(archive.name, error) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _format_of(name: str) -> Callable[[Path, str, Tree, Room], None] | None:
    lowered = name.lower()
    return next((unpack_format for suffix, unpack_format in _FORMATS.items() if lowered.endswith(suffix)), None)


def _system_failure(source: str, error: OSError | UnicodeError) -> StorageFailure:
    reason = error.strerror if isinstance(error, OSError) else "a name in it cannot be a file's"
    lasting = not isinstance(error, OSError) or error.errno in (errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR)
    return StorageFailure(f"{source} cannot be unpacked: {reason}", may_retry=not lasting)
