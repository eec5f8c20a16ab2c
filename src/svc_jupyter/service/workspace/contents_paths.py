"""Paths of Jupyter contents: parses and checks text; reads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Self
from urllib.parse import unquote

from svc_jupyter.api.text import UNREADABLE
from svc_jupyter.service.ground.errors import Invalid, NotFound

COMMON = "Common"
"""The folder that all users of the account share."""
USERS = "Users"
"""Holds one folder per user, named by the e-mail address."""
NOTEBOOK_SUFFIX = ".ipynb"
MAX_LENGTH = 4096
MAX_DEPTH = 64
MAX_NAME_BYTES = 255
"""The limit of a name in common file systems."""
_UNREADABLE = re.compile(rf"[{UNREADABLE}\ud800-\udfff]")
_NO_ADDRESS = re.compile(r"[\x00-\x1f]")
_UNFIT_FOR_A_PART = re.compile(r"^\.|[%/\\\x7f-\x9f]")
_COPY_MARK = re.compile(r"-Copy\d*\.")


@dataclass(frozen=True, slots=True)
class ContentsPath:
    """A path from the roots on, with every part checked. Its text has no slash at either end."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join(self.parts)

    @property
    def is_above_roots(self) -> bool:
        """Whether it lists the roots: the empty path, or `Users`."""
        return self.parts in ((), (USERS,))

    @property
    def is_root(self) -> bool:
        """Whether it is `Common` or a user's own folder."""
        return self.parts == (COMMON,) or (len(self.parts) == 2 and self.parts[0] == USERS)

    @property
    def owner(self) -> str | None:
        """The e-mail address of the user whose folder contains it, None for `Common`."""
        return _owner(self.parts[1]) if self.parts[0] == USERS else None

    @property
    def inside(self) -> tuple[str, ...]:
        """The parts below the root folder."""
        return self.parts[2 if self.parts[0] == USERS else 1 :]

    @property
    def name(self) -> str:
        """The last part; empty for the empty path."""
        return self.parts[-1] if self.parts else ""

    @property
    def parent(self) -> Self:
        """The path of the containing folder."""
        return type(self)(self.parts[:-1])

    def __truediv__(self, name: str) -> Self:
        return type(self)((*self.parts, name))


def parse_path(text: str, field: str = "path") -> ContentsPath:
    """Return the path of a text; extra slashes are ignored. Errors name the request's `field`.

    Raises `Invalid` for impossible names (including hidden ones and `..`), `NotFound` for a path outside the roots.
    """
    if len(text) > MAX_LENGTH:
        raise Invalid(f"{field}: has more than {MAX_LENGTH} characters")
    parts = tuple(part for part in text.split("/") if part)
    if len(parts) > MAX_DEPTH:
        raise Invalid(f"{field}: is deeper than {MAX_DEPTH} folders")
    for number, part in enumerate(parts):
        check_name(part, field, max_bytes=MAX_LENGTH if number == 1 and parts[0] == USERS else MAX_NAME_BYTES)
    if parts[:1] == (USERS,) and len(parts) > 1 and _NO_ADDRESS.search(_owner(parts[1])):
        raise Invalid(f"{field}: {_shown(parts[1])} is not an e-mail address")
    if parts and parts[0] not in (COMMON, USERS):
        raise NotFound(f"there is nothing at {_shown(parts[0])}: paths begin with {COMMON} or {USERS}/<e-mail>")
    return ContentsPath(parts)


def user_root(email: str) -> ContentsPath:
    """Return the path of a user's own folder. Characters that a path cannot hold are percent-encoded."""
    return ContentsPath((USERS, _UNFIT_FOR_A_PART.sub(_percent_encoded, email)))


def check_name(name: str, field: str, max_bytes: int = MAX_NAME_BYTES) -> None:
    """Raise `Invalid`, naming the request's field, for an invalid file or folder name."""
    if not name.strip():
        raise Invalid(f"{field}: a name must not be blank")
    if name.startswith("."):
        raise Invalid(f"{field}: {_shown(name)}: names that begin with a dot are hidden and not served")
    if "/" in name:
        raise Invalid(f"{field}: {_shown(name)}: a name must not hold a slash")
    if _UNREADABLE.search(name):
        raise Invalid(f"{field}: {_shown(name)} holds a control character or an override of the direction of writing")
    if len(name.encode()) > max_bytes:
        raise Invalid(f"{field}: the name {_shown(name)} is longer than {max_bytes} bytes")


def is_shown(name: str) -> bool:
    """Return whether paths can contain a name found on disk."""
    try:
        check_name(name, "name")
    except Invalid:
        return False
    return True


def free_names(wanted: str, insert: str = "") -> Iterator[str]:
    """Yield `wanted`, then numbered ones: `Untitled.ipynb`, `Untitled1.ipynb`, … as Jupyter numbers them.

    `insert` precedes the number; the suffix begins at the first dot, except a notebook's.
    """
    stem, dot, suffix = wanted.partition(".")
    if wanted.endswith(NOTEBOOK_SUFFIX):
        stem, dot, suffix = wanted.rpartition(".")
    yield wanted
    for number in count(1):
        yield f"{stem}{insert}{number}{dot}{suffix}"


def copy_names(name: str) -> Iterator[str]:
    """Yield the names for a copy of `name`: `a.ipynb`, `a-Copy1.ipynb`, …; a copy of a copy continues the count."""
    return free_names(_COPY_MARK.sub(".", name), "-Copy")


def _owner(part: str) -> str:
    return unquote(part).lower()


def _percent_encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def _shown(name: str) -> str:
    text = _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", name)
    return repr(text if len(text) <= 80 else f"{text[:79]}…")
