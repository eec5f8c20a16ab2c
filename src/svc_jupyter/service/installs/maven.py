"""The address of Maven artifacts: `SVC_MAVEN_REPOSITORY`, or the mirror of Maven's settings, or the default."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from svc_jupyter.service.installs.failures import RepositoryRefused

SETTINGS = Path(".m2") / "settings.xml"
"""Relative to the user's home."""

_DEFAULT = Path(__file__).with_name("default-repository.txt")
_DEFAULT_ID = "central"
"""Maven's id of the default repository; mirrors refer to it."""


def repository(configured: str | None, home: Path) -> str:
    """Return the address to which artifacts' paths are appended, with a trailing slash."""
    address = configured or _mirror_of(home / SETTINGS) or _default()
    return address.rstrip("/") + "/"


def mirror_in(settings_xml: str) -> str | None:
    """Return the address of the first mirror of the default repository; raises `ParseError`."""
    root = ElementTree.fromstring(settings_xml)  # noqa: S314  the user's own file
    for mirror in root.iterfind(".//{*}mirrors/{*}mirror"):
        address = (mirror.findtext("{*}url") or "").strip()
        if address and _stands_for_default((mirror.findtext("{*}mirrorOf") or "").strip()):
            return address
    return None


def _stands_for_default(mirror_of: str) -> bool:
    """Return whether a `mirrorOf` (`*`, `external:*`, `central`, `*,!central` …) covers the default repository."""
    names = [name.strip() for name in mirror_of.split(",")]
    if f"!{_DEFAULT_ID}" in names:
        return False
    return any(name in ("*", "external:*", _DEFAULT_ID) for name in names)


def _mirror_of(settings: Path) -> str | None:
    try:
        return mirror_in(settings.read_text())
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        raise RepositoryRefused(
            f"{settings} cannot be read ({error}): correct it, or set SVC_MAVEN_REPOSITORY"
        ) from error


def _default() -> str:
    """Return the address recorded at the build."""
    try:
        return _DEFAULT.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise RepositoryRefused(
            f"{_DEFAULT} is missing, which a build of svc-jupyter writes: install svc-jupyter anew, or set "
            "SVC_MAVEN_REPOSITORY"
        ) from None
