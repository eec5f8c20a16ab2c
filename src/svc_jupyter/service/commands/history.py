"""Filters of the command history."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import sqlalchemy as sa

from svc_jupyter.api.commands import CommandSource, CommandType
from svc_jupyter.api.states import STATUS_FILTERS
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schema.commands import commands

_DEFAULT_DAYS = 30
_ID_DIGITS = 18


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """The filter; None and empty values do not filter."""

    now: datetime
    all_users: bool = False
    status: str | None = None
    command_types: tuple[str, ...] = field(default=())
    sources: tuple[str, ...] = field(default=())
    name: str | None = None
    search: str | None = None
    tags: tuple[str, ...] = field(default=())
    label: str | None = None
    parent_id: int | None = None
    start: datetime | None = None
    end: datetime | None = None


def history_query(caller: Caller, wanted: HistoryFilter) -> sa.Select[tuple[object, ...]]:
    """Return the query for the account's commands that pass the filter, newest first."""
    c = commands.c
    start = wanted.start or (wanted.end or wanted.now) - timedelta(days=_DEFAULT_DAYS)
    conditions: list[sa.ColumnElement[bool]] = [c.account_id == caller.account_id, c.created_at >= start.timestamp()]
    if wanted.end is not None:
        conditions.append(c.created_at < wanted.end.timestamp())
    if not wanted.all_users:
        conditions.append(c.user_id == caller.user_id)
    if wanted.status is not None:
        conditions.append(c.status == _known(wanted.status, "status", STATUS_FILTERS))
    if wanted.command_types:
        conditions.append(
            c.command_type.in_([_enum(item, "command_type", CommandType) for item in wanted.command_types])
        )
    if wanted.sources:
        conditions.append(
            c.command_source.in_([_enum(item.upper(), "command_source", CommandSource) for item in wanted.sources])
        )
    if wanted.name is not None:
        conditions.append(c.name.contains(wanted.name, autoescape=True))
    if wanted.search is not None:
        conditions.append(_has(wanted.search))
    if wanted.label is not None:
        conditions.append(c.label == wanted.label)
    if wanted.parent_id is not None:
        conditions.append(c.parent_id == wanted.parent_id)
    listed = "," + sa.func.trim(c.tags, "[]") + ","
    conditions += [listed.contains(f",{tag},", autoescape=True) for tag in wanted.tags]
    return sa.select(commands).where(*conditions).order_by(c.id.desc())


def _has(text: str) -> sa.ColumnElement[bool]:
    """Return the condition that a command has a text in its name, its tags or what it runs, or as its id."""
    c = commands.c
    searched = text.lower()
    in_json = json.dumps(searched)[1:-1]  # as the column holds it
    found = [
        sa.func.lower(c.name).contains(searched, autoescape=True),
        sa.func.lower(c.tags).contains(searched, autoescape=True),
        sa.func.lower(sa.cast(c.command, sa.Text)).contains(in_json, autoescape=True),
    ]
    if text.isascii() and text.isdigit() and len(text) <= _ID_DIGITS:
        found.append(c.id == int(text))
    return sa.or_(*found)


def split_list(text: str | None) -> tuple[str, ...]:
    """Return the items of a comma-separated text, with or without enclosing square brackets."""
    if text is None:
        return ()
    return tuple(item for part in text.strip().strip("[]").split(",") if (item := part.strip()))


def _known(value: str, field_name: str, allowed: object) -> str:
    options = dict(allowed)  # type: ignore[call-overload]
    if value.lower() not in options:
        raise Invalid(f"{field_name}: {value[:40]!r} is unknown; it must be one of {', '.join(options)}")
    return str(options[value.lower()])


def _enum(value: str, field_name: str, kind: type[CommandType] | type[CommandSource]) -> str:
    known = [member.value for member in kind]
    if value not in known:
        names = ", ".join(known)
        raise Invalid(f"{field_name}: {value[:40]!r} is unknown; it must be one of {names}")
    return value
