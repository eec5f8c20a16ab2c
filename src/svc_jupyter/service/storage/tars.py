"""Unpacks tar archives, compressed with gzip or not, from front to back."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from svc_jupyter.service.storage.bounded_file import BoundedFile
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.room import Room
from svc_jupyter.service.storage.tree import Tree, is_executable

_CHUNK = 1 << 18
_MAX_HEADER = 1 << 20
"""Bytes of an extended header; paths are at most 4 kB."""
_BLOCK = tarfile.BLOCKSIZE
_GZIP_MAGIC = b"\x1f\x8b"


def unpack_tar(archive: Path, source: str, tree: Tree, room: Room) -> None:
    """Unpack into `tree`. Raises `StorageFailure` for what cannot be unpacked or would leave the folder."""
    assert room.max_entries is not None
    total = room.max_bytes + room.max_entries * 4 * _BLOCK  # a member's header, its long name, its padding
    try:
        with archive.open("rb") as file, _decompressed(file) as stream:
            bounded = BoundedFile(stream, source, room, max_read=_MAX_HEADER, max_total=total)
            with tarfile.open(fileobj=bounded, mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
                while (member := tar.next()) is not None:
                    tar.members = []  # type: ignore[attr-defined]  # it would keep every member it has seen
                    _unpack_member(tar, member, tree)
                _check_end(bounded, source)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, ValueError) as error:
        raise StorageFailure(
            f"{source} cannot be unpacked: it is not a whole tar archive ({error})", may_retry=False
        ) from error


@contextmanager
def _decompressed(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Return the file unchanged or through gzip, by its first bytes: some web servers unpack what they send."""
    compressed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    file.seek(0)
    if not compressed:
        yield file
        return
    with gzip.GzipFile(fileobj=file) as unpacked:
        yield cast("IO[bytes]", unpacked)


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, tree: Tree) -> None:
    if member.isdir():
        tree.add_folder(member.name)
    elif member.isreg():
        tree.add_file(member.name, _content(tar, member), executable=is_executable(member.mode))
    elif member.islnk():
        tree.add_hard_link(member.name, member.linkname)
    elif member.issym():
        tree.add_symbolic_link(member.name, member.linkname)
    else:
        raise tree.refused(member.name, "is neither a file, a folder nor a link")


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    content = tar.extractfile(member)
    assert content is not None
    with content:
        while chunk := content.read(_CHUNK):
            yield chunk


def _check_end(file: BoundedFile, source: str) -> None:
    """Raise for damage after the first member, which the reader takes for the end: a tar ends with an empty block.

    Then read to the very end: only there does gzip compare its checksum.
    """
    last = file.last
    if last and (len(last) != _BLOCK or last.strip(b"\0")):
        raise StorageFailure(f"{source} cannot be unpacked: it is damaged or cut off", may_retry=False)
    while file.read(_CHUNK):
        pass
