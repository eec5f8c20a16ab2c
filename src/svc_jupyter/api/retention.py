"""How long files of ended commands are kept: the rules, what they would delete, and the files of one command."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from svc_jupyter.api.fields import Id, Record, Request


class Files(StrEnum):
    """The files that a rule is about."""

    RESULTS = "results"
    """Rows, executed notebooks and working folders."""
    LOGS = "logs"


class RetentionRule(Request):
    """Of the files of ended commands, the ones beyond a limit are deleted, oldest first.

    A rule is about the commands of a schedule, of a type, or all. For each command, only the most specific rule counts.
    """

    what: Files = Field(strict=False)
    command_type: str | None = Field(default=None, min_length=1, max_length=64)
    schedule_id: Id | None = None
    keep_days: float | None = Field(default=None, gt=0, le=36_500, strict=False)
    """Days since the end of the command."""
    keep_bytes: int | None = Field(default=None, ge=0, le=2**62)
    """Of all files together that the rule is about."""

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if self.keep_days is None and self.keep_bytes is None:
            raise ValueError("a rule needs keep_days or keep_bytes")
        if self.command_type is not None and self.schedule_id is not None:
            raise ValueError("a rule is about a command_type or a schedule_id, not both")
        return self

    @property
    def subject(self) -> str:
        """What the rule is about, for users."""
        if self.schedule_id is not None:
            return f"{self.what} of schedule {self.schedule_id}"
        return f"{self.what} of {self.command_type or 'all commands'}"


def check_clear(rules: Sequence[RetentionRule]) -> None:
    """Raise `ValueError` for two rules about the same files."""
    subjects = [rule.subject for rule in rules]
    for subject in subjects:
        if subjects.count(subject) > 1:
            raise ValueError(f"there are two rules about {subject}; join them")


class RetentionRules(Request):
    """All rules of the account; without any, nothing is deleted."""

    rules: list[RetentionRule] = Field(default_factory=list, max_length=200)

    @model_validator(mode="after")
    def _are_clear(self) -> Self:
        check_clear(self.rules)
        return self


class PrunePreview(Request):
    """The rules to try; without any, those in force."""

    rules: list[RetentionRule] | None = Field(default=None, max_length=200)

    @model_validator(mode="after")
    def _are_clear(self) -> Self:
        check_clear(self.rules or [])
        return self


class Prunable(Record):
    """What one rule would delete now."""

    rule: str
    commands: int
    bytes: int


class PrunePlan(Record):
    """What the rules would delete now."""

    prunable: list[Prunable]
    bytes: int
    unmeasured: int
    """Ended commands whose files have not been measured yet; their bytes are missing."""


class CommandFiles(Record):
    """The files of a command."""

    id: int
    keep: bool
    """Whether no rule deletes them."""
    result_bytes: int | None = None
    """None until they are measured, which needs a rule."""
    log_bytes: int | None = None
    results_deleted: str | None = None
    """When, and by which rule; None where they are there."""
    logs_deleted: str | None = None


class CommandFilesUpdate(Request):
    """Whether to keep the files of a command whatever the rules say."""

    keep: bool
