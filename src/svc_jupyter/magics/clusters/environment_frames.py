"""Package environments as DataFrames; times are in UTC."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.package_environments import PackageActivity, PackageEnvironment, PackageList

ENVIRONMENT_COLUMNS = (
    *("id", "name", "env_type", "python_version", "r_version"),
    *("status", "package_id", "cluster_id", "created_at"),
)
HISTORY_COLUMNS = ("id", "action", "status", "packages", "message", "email", "created_at", "finished_at")
PACKAGE_COLUMNS = ("package", "version", "requested")


def environments_frame(environments: Iterable[PackageEnvironment]) -> pd.DataFrame:
    """Return a row per environment; `status` is that of its newest activity."""
    return _frame(ENVIRONMENT_COLUMNS, environments, ("created_at",), ("package_id", "cluster_id"))


def history_frame(rows: Iterable[PackageActivity]) -> pd.DataFrame:
    """Return a row per activity, newest first; `id` is what a restore takes."""
    frame = _frame(HISTORY_COLUMNS, rows, ("created_at", "finished_at"), ())
    frame["packages"] = frame["packages"].map(", ".join)
    return frame


def packages_frame(packages: PackageList) -> pd.DataFrame:
    """Return a row per installed package."""
    import pandas as pd

    requested = {pin for pins in packages.packages.values() for pin in pins}
    pins = packages.installed or sorted(requested)
    rows = [(*pin.split("==", 1), pin in requested) for pin in pins]
    return pd.DataFrame(rows, columns=list(PACKAGE_COLUMNS))


def _frame(
    columns: tuple[str, ...], records: Iterable[object], times: tuple[str, ...], ids: tuple[str, ...]
) -> pd.DataFrame:
    import pandas as pd

    rows = [[getattr(record, column, None) for column in columns] for record in records]
    frame = pd.DataFrame(rows, columns=list(columns)).astype(dict.fromkeys(ids, "Int64"))
    for time in times:
        frame[time] = pd.to_datetime(frame[time], utc=True)
    return frame
