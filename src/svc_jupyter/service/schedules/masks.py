"""Masks of dependencies: texts with strftime directives, such as `s3://lake/%Y/%m/%d`."""

from __future__ import annotations

import re
from datetime import datetime

_DIRECTIVE = re.compile(r"%(-?[dmyHIMSj]|[%YGuwVUWaAbBpfzZFTR])?")
"""The directives that mean the same on every machine: no local date formats, no local clock."""


def check_mask(mask: str) -> None:
    """Raise ValueError, with a message for the user, for a `%` that begins no directive."""
    for match in _DIRECTIVE.finditer(mask):
        if match[1] is None:
            shown = mask[match.start() : match.start() + 2]
            raise ValueError(f"{shown!r} is no date directive such as %Y, %m, %d or %H; write %% for a percent sign")


def render(mask: str, wall: datetime) -> str:
    """Return the mask with its directives replaced for `wall`, which is aware: `%z` and `%Z` name its zone."""
    return _DIRECTIVE.sub(lambda match: wall.strftime(match[0]), mask)
