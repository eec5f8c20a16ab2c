"""The rules of an environment's type: its language, and the valid requests for packages. Pure.

A Python package is a name with extras and versions, no URL, path or option. A package of R is a name with an exact or a
minimum version; its names are case-sensitive and may hold dots, its versions dashes (`1.2-3`), and both are kept
unchanged.
"""

from __future__ import annotations

import re
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidName, canonicalize_name

from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.packages.requirements import Asked, Requirements, shown

BASE: Final = ("ipykernel>=6.29",)
"""Packages of every Python environment: a notebook's kernel starts from it."""
_R_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9.]*[A-Za-z0-9])\s*(?:(?P<operator>==|>=)\s*(?P<version>[0-9]+(?:[.-][0-9]+)*))?",
    re.ASCII,
)
"""As in R's manual ("Writing R Extensions", the DESCRIPTION file)."""
_LANGUAGES: Final = {EnvironmentType.PYTHON: "python", EnvironmentType.R: "r"}


def _read_r(text: str) -> Asked:
    """Return a requirement of R. Raises `Invalid` for URLs, paths, and other forms of versions."""
    match = _R_REQUIREMENT.fullmatch(text.strip())
    if match is None:
        raise Invalid(
            f"packages: {shown(text)} is not a package of R; name it, also with its version, "
            "as in data.table==1.15.4 or data.table>=1.14"
        )
    name, operator, version = match.groups()
    return Asked(name, f"{name}{operator or ''}{version or ''}")


def _read_python(text: str) -> Asked:
    """Return a requirement of a package's name.

    Raises `Invalid` for anything but a name in the package index: URLs, version control, paths, options of the
    installer, markers.
    """
    try:
        requirement = Requirement(text.strip())
        name = canonicalize_name(requirement.name, validate=True)
    except (InvalidRequirement, InvalidName):
        raise Invalid(
            f"packages: {shown(text)} is not a package of the index; name it with its version, as in six==1.16.0"
        ) from None
    if requirement.url is not None:
        raise Invalid(
            f"packages: {requirement.name} is asked for by a URL; packages come from the index by their names"
        )
    if requirement.marker is not None:
        raise Invalid(f"packages: {requirement.name} has a marker; an environment has one Python, so leave it out")
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return Asked(name, f"{name}{extras}{requirement.specifier}")


PYTHON: Final = Requirements(_read_python, canonicalize_name)
R: Final = Requirements(_read_r, str)
_REQUIREMENTS: Final = {EnvironmentType.PYTHON: PYTHON, EnvironmentType.R: R}


def requirements_of(env_type: str) -> Requirements:
    """Return the requirement rules for an environment."""
    return _REQUIREMENTS[EnvironmentType(env_type)]


def language_of(env_type: str) -> str:
    """Return the name under which an environment's packages are listed."""
    return _LANGUAGES[EnvironmentType(env_type)]
