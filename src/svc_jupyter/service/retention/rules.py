"""The rules as conditions of queries: which files are beyond a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.retention import Files, RetentionRule
from svc_jupyter.service.schema.retention import command_files, retention

_C = command_files.c
_DAY = 86_400
DELETED_AT = {Files.RESULTS: _C.results_deleted_at, Files.LOGS: _C.logs_deleted_at}
DELETED_BY = {Files.RESULTS: _C.results_deleted_by, Files.LOGS: _C.logs_deleted_by}
_SIZE = {Files.RESULTS: _C.result_bytes, Files.LOGS: _C.log_bytes}


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a rule: its text for users, and the files beyond it as a subquery of `command_id` and `size`."""

    what: Files
    text: str
    beyond: sa.Subquery


def read_rules(connection: sa.Connection, account_id: int) -> list[RetentionRule]:
    """Return the rules in force."""
    found = connection.execute(sa.select(retention.c.rules).where(retention.c.account_id == account_id)).scalar()
    return [RetentionRule.model_validate(rule) for rule in found or []]


def limits_of(rules: Sequence[RetentionRule], account_id: int, now: float) -> list[Limit]:
    """Return the limits of all rules. A file is beyond one of them at most: those of bytes come after those of days."""
    return [limit for rule in rules for limit in _limits(rule, rules, account_id, now)]


def _limits(rule: RetentionRule, rules: Sequence[RetentionRule], account_id: int, now: float) -> list[Limit]:
    subject = [
        _C.account_id == account_id,
        _C.ended_at.is_not(None),
        DELETED_AT[rule.what].is_(None),
        sa.not_(_C.is_kept),
        *_about(rule, rules),
    ]
    size = sa.func.coalesce(_SIZE[rule.what], 0)
    limits = []
    if rule.keep_days is not None:
        oldest = now - rule.keep_days * _DAY
        old = sa.select(_C.command_id, _C.ended_at, size.label("size")).where(*subject, _C.ended_at < oldest)
        unit = "day" if rule.keep_days == 1 else "days"
        limits.append(Limit(rule.what, f"{rule.subject}, at most {rule.keep_days:g} {unit}", old.subquery()))
        subject.append(_C.ended_at >= oldest)
    if rule.keep_bytes is not None:
        with_newer = sa.func.sum(size).over(order_by=(_C.ended_at.desc(), _C.command_id.desc()))
        kept = sa.select(_C.command_id, _C.ended_at, size.label("size"), with_newer.label("total")).where(*subject)
        sizes = kept.subquery()
        # Files without a byte free nothing.
        too_much = sa.select(sizes.c.command_id, sizes.c.ended_at, sizes.c.size).where(
            sizes.c.total > rule.keep_bytes, sizes.c.size > 0
        )
        limits.append(Limit(rule.what, f"{rule.subject}, at most {rule.keep_bytes:,} bytes", too_much.subquery()))
    return limits


def _about(rule: RetentionRule, rules: Sequence[RetentionRule]) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for the commands whose most specific rule this is."""
    others = [other for other in rules if other.what is rule.what]
    schedules = [other.schedule_id for other in others if other.schedule_id is not None]
    types = [other.command_type for other in others if other.command_type is not None]
    if rule.schedule_id is not None:
        return [_C.schedule_id == rule.schedule_id]
    without: list[Any] = [sa.or_(_C.schedule_id.is_(None), _C.schedule_id.not_in(schedules))] if schedules else []
    if rule.command_type is not None:
        return [_C.command_type == rule.command_type, *without]
    return [*([_C.command_type.not_in(types)] if types else []), *without]
