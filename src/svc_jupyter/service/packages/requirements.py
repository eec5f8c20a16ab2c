"""Requested packages of an environment, and their locks, in any language. Pure.

A lock is text: `name==version` with its hashes per package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from svc_jupyter.service.ground.errors import Invalid

_LOCKED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s\\;]+)")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Asked:
    """A requested package: its name in comparable form, and its canonical text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Requirements:
    """The rules for requests in a language.

    `read` parses a user's text, or its own result; it raises `Invalid` for what is not a package of the language's
    index. `canonical` returns a lock's name in comparable form.
    """

    read: Callable[[str], Asked]
    canonical: Callable[[str], str]

    def parsed(self, texts: Iterable[str]) -> list[Asked]:
        """Return the parsed requests, each name once. Raises `Invalid`."""
        found: dict[str, Asked] = {}
        for text in texts:
            if not text.isprintable():
                raise Invalid(f"packages: {shown(text)} holds control characters")
            asked = self.read(text)
            if asked.name in found:
                raise Invalid(f"packages: {asked.name} is named twice")
            found[asked.name] = asked
        return list(found.values())

    def merged(self, requested: Sequence[str], added: Iterable[str]) -> list[str]:
        """Return the requests after packages are added: an existing name gets its new versions."""
        by_name = {self.read(text).name: text for text in requested}
        by_name |= {asked.name: asked.text for asked in self.parsed(added)}
        return [by_name[name] for name in sorted(by_name)]

    def without(self, requested: Sequence[str], removed: Iterable[str]) -> list[str]:
        """Return the requests after packages are removed, by their names; versions are ignored.

        Raises `Invalid` for a package that was not requested: another one may need it.
        """
        by_name = {self.read(text).name: text for text in requested}
        for asked in self.parsed(removed):
            if by_name.pop(asked.name, None) is None:
                there = f"it holds {', '.join(by_name)}" if by_name else "nothing was added to it"
                raise Invalid(f"packages: {asked.name} was not added to this environment ({there})")
        return [by_name[name] for name in sorted(by_name)]

    def locked(self, lock: str | None) -> dict[str, str]:
        """Return the versions of a lock, by the names of its packages."""
        found = (_LOCKED.match(line) for line in (lock or "").splitlines())
        return {self.canonical(match["name"]): match["version"] for match in found if match}

    def pins(self, lock: str | None) -> list[str]:
        """Return the packages of a lock as `name==version`, sorted."""
        return [f"{name}=={version}" for name, version in sorted(self.locked(lock).items())]

    def pins_of(self, requested: Iterable[str], lock: str | None) -> list[str]:
        """Return the requested packages at the versions of the lock."""
        versions = self.locked(lock)
        names = (self.read(text).name for text in requested)
        return [f"{name}=={versions[name]}" for name in names if name in versions]

    def changes(self, before: str | None, after: str) -> str:
        """Return the differences between two locks, for users: `six 1.16.0 added, numpy 2.1 → 2.2`."""
        old, new = self.locked(before), self.locked(after)
        if not old:
            return f"{len(new)} packages installed"
        parts = [f"{name} {new[name]} added" for name in sorted(new.keys() - old.keys())]
        parts += [f"{name} {old[name]} removed" for name in sorted(old.keys() - new.keys())]
        kept = sorted(old.keys() & new.keys())
        parts += [f"{name} {old[name]} → {new[name]}" for name in kept if old[name] != new[name]]
        return ", ".join(parts) or "nothing changed"


def shown(text: str) -> str:
    """Return a user's text, quoted and shortened for a message."""
    return repr(text[:_SHOWN])
