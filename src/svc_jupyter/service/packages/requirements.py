"""What may be asked for as a Python package: a name with extras and versions, no URL, path or option. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from svc_jupyter.service.errors import Invalid

BASE = ("ipykernel>=6.29",)
"""What every environment holds besides: a notebook's kernel starts from it."""
_LOCKED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s\\;]+)")
_SHOWN = 60


def parsed(texts: Iterable[str]) -> list[Requirement]:
    """Return requirements of package names; each name once.

    Raises `Invalid` for anything that would not come from the package index by its name: URLs, version control, paths,
    options of the installer, markers.
    """
    found: dict[str, Requirement] = {}
    for text in texts:
        requirement = _parsed(text)
        name = canonicalize_name(requirement.name)
        if name in found:
            raise Invalid(f"packages: {name} is named twice")
        found[name] = requirement
    return list(found.values())


def merged(requested: Sequence[str], added: Iterable[str]) -> list[str]:
    """Return what is asked for once packages are added: a name that is there already gets its new versions."""
    by_name = {_name(text): text for text in requested}
    for requirement in parsed(added):
        by_name[canonicalize_name(requirement.name)] = _text(requirement)
    return [by_name[name] for name in sorted(by_name)]


def without(requested: Sequence[str], removed: Iterable[str]) -> list[str]:
    """Return what is asked for once packages are removed, by their names; versions do not count.

    Raises `Invalid` for a package that was never asked for: another one may need it.
    """
    by_name = {_name(text): text for text in requested}
    for requirement in parsed(removed):
        name = canonicalize_name(requirement.name)
        if by_name.pop(name, None) is None:
            there = f"it holds {', '.join(by_name)}" if by_name else "nothing was added to it"
            raise Invalid(f"packages: {name} was not added to this environment ({there})")
    return [by_name[name] for name in sorted(by_name)]


def locked(lock: str | None) -> dict[str, str]:
    """Return the versions of a lock, by the canonical names of its packages."""
    lines = (lock or "").splitlines()
    found = (_LOCKED.match(line) for line in lines)
    return {canonicalize_name(match["name"]): match["version"] for match in found if match}


def pins(lock: str | None) -> list[str]:
    """Return the packages of a lock as `name==version`, sorted."""
    return [f"{name}=={version}" for name, version in sorted(locked(lock).items())]


def pins_of(requested: Iterable[str], lock: str | None) -> list[str]:
    """Return the packages that were asked for at the versions of the lock."""
    versions = locked(lock)
    return [f"{name}=={versions[name]}" for name in map(_name, requested) if name in versions]


def changes(before: str | None, after: str) -> str:
    """Return what differs between two locks, for people: `six 1.16.0 added, numpy 2.1 → 2.2`."""
    old, new = locked(before), locked(after)
    if not old:
        return f"{len(new)} packages installed"
    parts = [f"{name} {new[name]} added" for name in sorted(new.keys() - old.keys())]
    parts += [f"{name} {old[name]} removed" for name in sorted(old.keys() - new.keys())]
    parts += [f"{name} {old[name]} → {new[name]}" for name in sorted(old.keys() & new.keys()) if old[name] != new[name]]
    return ", ".join(parts) or "nothing changed"


def _parsed(text: str) -> Requirement:
    shown = text[:_SHOWN]
    if not text.isprintable():
        raise Invalid(f"packages: {shown!r} holds control characters")
    try:
        requirement = Requirement(text.strip())
    except InvalidRequirement:
        raise Invalid(
            f"packages: {shown!r} is not a package of the index; name it with its version, as in six==1.16.0"
        ) from None
    if requirement.url is not None:
        raise Invalid(
            f"packages: {requirement.name} is asked for by a URL; packages come from the index by their names"
        )
    if requirement.marker is not None:
        raise Invalid(f"packages: {requirement.name} has a marker; an environment has one Python, so leave it out")
    return requirement


def _text(requirement: Requirement) -> str:
    """Return a requirement in the one form in which it is kept."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{canonicalize_name(requirement.name)}{extras}{requirement.specifier}"


def _name(text: str) -> str:
    return canonicalize_name(Requirement(text).name)
