"""Names of groups, roles and users, and the entries of policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from svc_jupyter.api import paths

Reference = int | str
"""A group or a role by id or name; a user by id or e-mail address."""
References = Reference | Sequence[Reference]
Policies = Sequence[Mapping[str, Any]]
"""Entries of a role or of an object's policy."""


def joined(references: References) -> str:
    """Return one or several references as the comma-separated text of a request."""
    several = [references] if isinstance(references, int | str) else references
    return ",".join(str(reference) for reference in several)


def path_of(collection: str, reference: Reference, *parts: str) -> str:
    """Return the path of a group or role, or of a part of it."""
    return paths.api("/".join([collection, *(quote(str(part), safe="") for part in (reference, *parts))]))
