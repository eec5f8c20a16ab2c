"""The manifest of a backup: what is in it, each file with its SHA-256. It is written last: without it there is none.

A target holds the backups of one service. `contents/` has each content once, named by its SHA-256, whatever files and
backups have it; `backups/` has the manifests, named by their time. A manifest is lines of JSON: the head, a line per
file, link and folder, and the end.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from svc_jupyter.service.backup.target import BackupFailure, Target

FORMAT: Final = 1
DATABASE: Final = "service.db"
"""The path of the database, always as SQLite."""
CONTENTS: Final = "contents"
_MANIFESTS: Final = "backups"
_SUFFIX: Final = ".jsonl.gz"
_MARK: Final = "svc-jupyter-backups.json"


@dataclass(frozen=True, slots=True)
class Head:
    """What a backup is of. `identity` is the key that its database and its data folder share."""

    format: int
    version: str
    revision: str
    identity: str
    made_at: str
    host: str
    database: str
    commands: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, link or folder of the data folder; a link has a target, a file a size and a digest."""

    path: str
    mode: int
    modified_ns: int
    changed_ns: int
    size: int | None = None
    sha256: str | None = None
    link: str | None = None

    @property
    def content(self) -> str:
        """The name of the object with the file's content."""
        return content_name(self.sha256 or "")


@dataclass(frozen=True, slots=True)
class End:
    """The counts of a complete backup, and why a file is not in it, by path."""

    files: int
    bytes: int
    left_out: Mapping[str, str]


def content_name(sha256: str) -> str:
    """Return the name of the object with a content; a folder holds few, since large folders are slow."""
    return f"{CONTENTS}/{sha256[:2]}/{sha256}"


def names(target: Target) -> list[str]:
    """Return the names of the complete backups of a target, oldest first."""
    found = (name.removeprefix(f"{_MANIFESTS}/") for name in target.sizes(_MANIFESTS))
    return sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX))


def write(target: Target, name: str, head: Head, entries: Iterable[Entry], end: End) -> None:
    """Write the manifest, which completes the backup."""
    lines = (*_lines([head]), *_lines(entries), *_lines([end]))
    target.put(_object(name), gzip.compress("".join(lines).encode("ascii")))


def read(target: Target, name: str) -> tuple[Head, list[Entry], End]:
    """Return the manifest of a backup. Raises `BackupFailure` where it is missing, damaged or of another format."""
    content = target.read(_object(name))
    if content is None:
        raise BackupFailure(f"{target}: there is no complete backup {name}")
    try:
        first, *middle, last = gzip.decompress(content).splitlines()
        head = json.loads(first)
        if head["format"] != FORMAT:
            raise BackupFailure(
                f"{target}: the backup {name} has the format {head['format']}, and this svc-jupyter reads {FORMAT}: "
                f"restore it with svc-jupyter {head['version']}"
            )
        return Head(**head), [_checked(Entry(**json.loads(line))) for line in middle], End(**json.loads(last))
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise BackupFailure(f"{target}: {_object(name)} is damaged, so its backup cannot be read") from error


def delete(target: Target, old: Iterable[str]) -> None:
    """Delete manifests."""
    target.delete([_object(name) for name in old])


def claim(target: Target, identity: str) -> None:
    """Take an empty target for the backups of a service, or see that it has backups of the same one."""
    mark = target.read(_MARK)
    if mark is None:
        if there := sorted(target.sizes())[:1]:
            raise BackupFailure(
                f"{target} is not empty: it has {there[0]}, and is no target of backups; give an empty one"
            )
        target.put(_MARK, json.dumps({"format": FORMAT, "identity": identity}).encode())
    elif _marked(target, mark) != identity:
        raise BackupFailure(f"{target} has the backups of another service; give each service a target of its own")


def check_mark(target: Target) -> None:
    """Raise `BackupFailure` for a place that is no target of backups."""
    mark = target.read(_MARK)
    if mark is None:
        raise BackupFailure(f"{target}: no backup of svc-jupyter is there")
    _marked(target, mark)


def _marked(target: Target, mark: bytes) -> str:
    try:
        found = json.loads(mark)
        format_, identity = found["format"], str(found["identity"])
    except (ValueError, KeyError, TypeError) as error:
        raise BackupFailure(f"{target}: {_MARK} is damaged") from error
    if format_ != FORMAT:
        raise BackupFailure(f"{target}: its backups have the format {format_}, and this svc-jupyter knows {FORMAT}")
    return identity


def _object(name: str) -> str:
    return f"{_MANIFESTS}/{name}{_SUFFIX}"


def _lines(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield json.dumps({key: item for key, item in asdict(value).items() if item is not None}) + "\n"


def _checked(entry: Entry) -> Entry:
    """Refuse a path that leads out of the data folder."""
    path = PurePosixPath(entry.path)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(entry.path)
    return entry
