"""What may be asked for as a Python package: a name with extras and versions, no URL, path or option. Pure."""

from __future__ import annotations

from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.packages.requirements import Asked, Requirements, shown

BASE: Final = ("ipykernel>=6.29",)
"""What every environment holds besides: a notebook's kernel starts from it."""


def _read(text: str) -> Asked:
    """Return a requirement of a package's name.

    Raises `Invalid` for anything that would not come from the package index by its name: URLs, version control, paths,
    options of the installer, markers.
    """
    try:
        requirement = Requirement(text.strip())
    except InvalidRequirement:
        raise Invalid(
            f"packages: {shown(text)} is not a package of the index; name it with its version, as in six==1.16.0"
        ) from None
    if requirement.url is not None:
        raise Invalid(
            f"packages: {requirement.name} is asked for by a URL; packages come from the index by their names"
        )
    if requirement.marker is not None:
        raise Invalid(f"packages: {requirement.name} has a marker; an environment has one Python, so leave it out")
    name = canonicalize_name(requirement.name)
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return Asked(name, f"{name}{extras}{requirement.specifier}")


PYTHON: Final = Requirements(_read, canonicalize_name)
