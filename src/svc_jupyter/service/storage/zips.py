"""Unpacks zip archives, including jars."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from svc_jupyter.service.storage.bounded_file import BoundedFile
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.room import Room
from svc_jupyter.service.storage.tree import Tree, is_executable

_CHUNK = 1 << 18
_MAX_LINK = 4096
_ENCRYPTED, _UTF8 = 0x1, 0x800
_ON_DOS, _ON_UNIX = 0, 3
_DIRECTORY_BYTES_PER_ENTRY = 256
"""Limit for the central directory, which is read whole; 130 are usual."""


def unpack_zip(archive: Path, source: str, tree: Tree, room: Room) -> None:
    """Unpack into `tree`. Raises `StorageFailure` for what cannot be unpacked or would leave the folder."""
    assert room.max_entries is not None
    max_read = max(1 << 20, room.max_entries * _DIRECTORY_BYTES_PER_ENTRY)
    try:
        with archive.open("rb") as file, zipfile.ZipFile(BoundedFile(file, source, room, max_read=max_read)) as opened:
            members = opened.infolist()
            room.expect(sum(member.file_size for member in members))
            for member in members:
                _unpack_member(opened, member, tree)
    except (zipfile.BadZipFile, EOFError, zlib.error, ValueError) as error:
        raise StorageFailure(
            f"{source} cannot be unpacked: it is not a whole zip archive ({error})", may_retry=False
        ) from error
    except (NotImplementedError, RuntimeError) as error:
        raise StorageFailure(f"{source} cannot be unpacked: {error}", may_retry=False) from error


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, tree: Tree) -> None:
    name = _name(member)
    mode = member.external_attr >> 16 if member.create_system == _ON_UNIX else 0
    kind = stat.S_IFMT(mode)
    if member.flag_bits & _ENCRYPTED:
        raise tree.refused(name, "is encrypted")
    if name.endswith("/") or kind == stat.S_IFDIR:
        tree.add_folder(name)
    elif kind == stat.S_IFLNK:
        if member.file_size > _MAX_LINK:
            raise tree.refused(name, "is a link with too long a target")
        tree.add_symbolic_link(name, archive.read(member).decode("utf-8", "surrogateescape"))
    elif kind in (0, stat.S_IFREG):
        tree.add_file(name, _content(archive, member), executable=is_executable(mode))
    else:
        raise tree.refused(name, "is neither a file, a folder nor a link")


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(member) as content:
        while chunk := content.read(_CHUNK):
            yield chunk


def _name(member: zipfile.ZipInfo) -> str:
    """Return a member's name. Many programs write UTF-8 without declaring it, and Windows ones backslashes."""
    name = member.orig_filename
    if not member.flag_bits & _UTF8:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = member.orig_filename
    if member.create_system == _ON_DOS and "/" not in name:
        name = name.replace("\\", "/")
    return name
