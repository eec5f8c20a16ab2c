"""The policies that an object has had as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.object_policies import PolicyVersion
    from svc_jupyter.magics.policies.objects import People

HISTORY_COLUMNS = ("set_at", "set_by", "policy")


def history_frame(versions: Iterable[PolicyVersion], people: People) -> pd.DataFrame:
    """Return a row per policy, newest first: when it was set (UTC), by whom, and its entries in words."""
    import pandas as pd

    rows = []
    for version in versions:
        entries = [
            f"{entry.access} {', '.join(entry.action)} · "
            + ", ".join(people.names(entry.condition.service_users, entry.condition.service_groups))
            for entry in version.policies
        ]
        rows.append([version.created_at, version.email, "; ".join(entries) or "none"])
    frame = pd.DataFrame(rows, columns=list(HISTORY_COLUMNS))
    frame["set_at"] = pd.to_datetime(frame["set_at"], utc=True)
    return frame
