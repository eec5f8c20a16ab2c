"""What may be asked for as a package of R: a name, with an exact or a least version. Pure.

Names of R are case-sensitive and may hold dots; versions may hold dashes (`1.2-3`). Nothing of them is changed.
"""

from __future__ import annotations

import re
from typing import Final

from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.packages.requirements import Asked, Requirements, shown

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9.]*[A-Za-z0-9])\s*(?:(?P<operator>==|>=)\s*(?P<version>[0-9]+(?:[.-][0-9]+)*))?",
    re.ASCII,
)
"""As R's manual has it ("Writing R Extensions", the DESCRIPTION file)."""


def _read(text: str) -> Asked:
    """Return a requirement. Raises `Invalid` for URLs, paths, and versions in other ways."""
    match = _REQUIREMENT.fullmatch(text.strip())
    if match is None:
        raise Invalid(
            f"packages: {shown(text)} is not a package of R; name it, also with its version, "
            "as in data.table==1.15.4 or data.table>=1.14"
        )
    name, operator, version = match.groups()
    return Asked(name, f"{name}{operator or ''}{version or ''}")


R: Final = Requirements(_read, str)
