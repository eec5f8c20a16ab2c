"""The target folder of an archive, out of which no path of the archive leads.

Symbolic links are created only after everything else is written: no write ever follows one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.room import Room

MAX_DEPTH = 100
"""Limit of nested folders: deeper trees break tools that walk them, including clean-up tools."""
_PLAIN, _EXECUTABLE = 0o644, 0o755
_SHOWN = 120
Parts = tuple[str, ...]


class Tree:
    """The files of one archive under `folder`, which must exist and be empty. `source` names the archive in errors."""

    def __init__(self, folder: Path, source: str, room: Room) -> None:
        self._folder = folder
        self._source = source
        self._room = room
        self._folders: set[Parts] = {()}
        self._files: set[Parts] = set()
        self._links: dict[Parts, str] = {}

    def refused(self, name: str, why: str) -> StorageFailure:
        """Return the failure for a member that cannot be unpacked."""
        shown = name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
        return StorageFailure(f"{self._source} cannot be unpacked: {shown!r} {why}", may_retry=False)

    def add_folder(self, name: str) -> None:
        """Create a folder and its parents."""
        self._make_folders(self._parts(name), name)

    def add_file(self, name: str, chunks: Iterable[bytes], *, executable: bool) -> None:
        """Write a file; a later one of the same name replaces it, as in `tar`."""
        parts = self._place(name)
        self._room.take_entry()
        mode = _EXECUTABLE if executable else _PLAIN
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._folder.joinpath(*parts), flags, mode)
        self._files.add(parts)
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                self._room.take(len(chunk))
                file.write(chunk)

    def add_hard_link(self, name: str, target: str) -> None:
        """Give an existing file another name."""
        source = self._parts(target)
        if source not in self._files:
            raise self.refused(name, f"is a link to {target[:_SHOWN]!r}, which is not a file before it in the archive")
        if source == self._parts(name):
            return
        parts = self._place(name)
        self._room.take_entry()
        os.link(self._folder.joinpath(*source), self._folder.joinpath(*parts), follow_symlinks=False)
        self._files.add(parts)

    def add_symbolic_link(self, name: str, target: str) -> None:
        """Record a symbolic link for `finish`.

        `..` is allowed only at the start of its target: after a name that is itself a link it could lead anywhere.
        """
        steps = [step for step in target.split("/") if step not in ("", ".")]
        climbs = 0
        while climbs < len(steps) and steps[climbs] == "..":
            climbs += 1
        depth = len(self._parts(name)) - 1
        if target.startswith("/") or "\0" in target or not target or climbs > depth or ".." in steps[climbs:]:
            raise self.refused(name, f"is a link that may lead out of its folder, to {target[:_SHOWN]!r}")
        parts = self._place(name)
        self._room.take_entry()
        self._links[parts] = target

    def finish(self) -> None:
        """Create the symbolic links."""
        for parts, target in self._links.items():
            if parts in self._folders:
                raise self.refused("/".join(parts), "is both a link and a folder")
            os.symlink(target, self._folder.joinpath(*parts))

    def _parts(self, name: str) -> Parts:
        """Return the parts of a member's path; refuse one that leads out of the folder."""
        if "\0" in name:
            raise self.refused(name, "holds a NUL character")
        if name.startswith("/"):
            raise self.refused(name, "is an absolute path")
        parts = tuple(part for part in name.split("/") if part not in ("", "."))
        if ".." in parts:
            raise self.refused(name, "leads out of its folder")
        if len(parts) > MAX_DEPTH:
            raise self.refused(name, f"is more than {MAX_DEPTH} folders deep")
        return parts

    def _place(self, name: str) -> Parts:
        """Return the parts of the path of a new file or link; create its folders and remove an existing file."""
        parts = self._parts(name)
        if not parts or parts in self._folders:
            raise self.refused(name, "is a file in the place of a folder")
        self._make_folders(parts[:-1], name)
        self._links.pop(parts, None)
        if parts in self._files:
            with suppress(FileNotFoundError):
                self._folder.joinpath(*parts).unlink()
            self._files.discard(parts)
        return parts

    def _make_folders(self, parts: Parts, name: str) -> None:
        if parts in self._folders:
            return
        for length in range(1, len(parts) + 1):
            part = parts[:length]
            if part in self._folders:
                continue
            if part in self._files or part in self._links:
                raise self.refused(name, f"is under {'/'.join(part)[:_SHOWN]!r}, which is not a folder")
            self._room.take_entry()
            self._folder.joinpath(*part).mkdir()
            self._folders.add(part)


def is_executable(mode: int) -> bool:
    """Return whether a member's mode lets its owner run it; the rest of the mode is dropped."""
    return bool(mode & stat.S_IXUSR)
