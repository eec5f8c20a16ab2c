"""The folders of this machine that `file://` locations may name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from svc_jupyter.service.ground.errors import Invalid


def resolve_under(path: Path, roots: Iterable[Path]) -> Path:
    """Return `path` with every symbolic link resolved; trailing parts may not exist yet.

    Raises `Invalid` when the result is under none of the `roots`, or cannot be resolved (a loop of links).
    """
    try:
        resolved = path.resolve()
        allowed = any(resolved.is_relative_to(root.resolve()) for root in roots)
    except (OSError, RuntimeError, ValueError) as error:
        raise Invalid(f"file://{path} cannot be resolved: {getattr(error, 'strerror', None) or error}") from error
    if not allowed:
        raise Invalid(
            f"file://{path} lies outside the folders that this service may read; "
            "put the file into the account's storage, or have the operator add its folder to file_roots"
        )
    return resolved
