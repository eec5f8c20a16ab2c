"""The value of `%svc_policy`: an object's policy in words, and a user's permitted actions with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import DONE, FAILED
from svc_jupyter.clock import named_time
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.rendering import facts_html, facts_text
from svc_jupyter.widgets.schedules.words import moment

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.object_policies import ObjectDecisions, ObjectPolicy
    from svc_jupyter.magics.policies.objects import PolicyObject

_ICONS = {"allow": DONE, "deny": FAILED}
ENTRY_COLUMNS = ("entry", "access", "who", "actions")
DECISION_COLUMNS = ("user", "action", "allowed", "because")


class PolicyAnswer:
    """One object's policy: `.entries` and `.decisions` as DataFrames, `.policy` as accepted by the client's `set`.

    `who` has the names of each entry's users and groups.
    """

    def __init__(
        self,
        about: PolicyObject,
        record: ObjectPolicy,
        who: Sequence[Sequence[str]],
        decisions: Sequence[ObjectDecisions] | None = None,
    ) -> None:
        self.record = record
        self._about = about
        self._who = who
        self._decisions = decisions

    @property
    def policy(self) -> list[dict[str, Any]]:
        """The entries in wire form."""
        return [entry.model_dump(mode="json", exclude_unset=True) for entry in self.record.policies]

    @property
    def entries(self) -> pd.DataFrame:
        """A row per entry, in order of evaluation."""
        rows = [
            [number, str(entry.access), ", ".join(who), ", ".join(entry.action)]
            for number, (entry, who) in enumerate(zip(self.record.policies, self._who, strict=True), start=1)
        ]
        return frame_of(ENTRY_COLUMNS, rows)

    @property
    def decisions(self) -> pd.DataFrame:
        """A row per user and action: whether it is allowed, and why or what is missing."""
        rows = [
            [of_user.email, str(one.action), one.allowed, one.because]
            for of_user in self._decisions or ()
            for one in of_user.decisions
        ]
        return frame_of(DECISION_COLUMNS, rows).astype({"allowed": bool})

    def _facts(self) -> list[tuple[str, str]]:
        record = self.record
        facts = [
            (
                f"entry {number}",
                f"{_ICONS[str(entry.access)]} {entry.access} {', '.join(entry.action)} · {', '.join(who)}",
            )
            for number, (entry, who) in enumerate(zip(record.policies, self._who, strict=True), start=1)
        ]
        if not facts:
            facts = [("entries", "none: groups and roles decide")]
        if record.updated_by:
            when = named_time(moment(record.updated_at, "UTC"), datetime.now(UTC))
            facts.append(("set by", f"{record.updated_by} · {when}"))
        if record.warning:
            facts.append(("warning", record.warning))
        if self._decisions is None:
            facts.append(("decisions", "this service does not explain them"))
        return [*facts, *((one.email, decided_text(one)) for one in self._decisions or ())]

    def __repr__(self) -> str:
        return facts_text(f"policy of {self._about}", self._facts())

    def _repr_html_(self) -> str:
        return facts_html(f"policy of {self._about}", self._facts())


def decided_text(decisions: ObjectDecisions) -> str:
    """Return what a user may and may not do, a line per reason: `✓ may read, update: …`."""
    lines = []
    for (allowed, because), some in groupby(decisions.decisions, key=lambda one: (one.allowed, one.because)):
        actions = ", ".join(str(one.action) for one in some)
        lines.append(f"{DONE if allowed else FAILED} {'may' if allowed else 'may not'} {actions}: {because}")
    return "\n".join(lines)
