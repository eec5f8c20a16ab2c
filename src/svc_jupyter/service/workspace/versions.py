"""Entity tags, which detect concurrent edits. Functions of values."""

from __future__ import annotations

from datetime import UTC, datetime

from svc_jupyter.service.ground.errors import StateConflict


def etag(version: int) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'


def require_match(if_match: str | None, version: int, what: str, updated_at: float) -> None:
    """Raise `StateConflict` unless the header If-Match is absent, `*`, or names `version` of `what`."""
    if if_match is None:
        return
    named = {tag.strip().removeprefix("W/").strip('"') for tag in if_match.split(",")}
    if named & {"*", str(version)}:
        return
    moment = datetime.fromtimestamp(int(updated_at), UTC).strftime("%Y-%m-%d %H:%M:%S")
    raise StateConflict(
        f"{what} was changed meanwhile: it is of version {version} since {moment} UTC, and If-Match names another; "
        "read it again and make your change there"
    )
