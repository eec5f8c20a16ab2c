"""The choice of a DB tap."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from svc_jupyter.api.db_taps import DbTap
from svc_jupyter.client.errors import NotFound, NotUnique


def chosen(name_or_id: str, taps: Sequence[DbTap]) -> DbTap:
    """Return the tap with this name, else the one with these digits as its id.

    Raises NotFound with the nearest names, or NotUnique.
    """
    named = [tap for tap in taps if tap.name == name_or_id]
    if len(named) > 1:
        ids = ", ".join(str(tap.id) for tap in named)
        raise NotUnique(f"{len(named)} DB taps are named {name_or_id!r}; give the id: {ids}")
    if named:
        return named[0]
    if with_id := [tap for tap in taps if str(tap.id) == name_or_id]:
        return with_id[0]
    names = sorted({tap.name for tap in taps})
    near = get_close_matches(name_or_id, names, n=3) or names[:10]
    hint = f"did you mean {' or '.join(near)}?" if near else "there are no DB taps yet"
    raise NotFound(f"there is no DB tap {name_or_id!r}; {hint}", status=404)
