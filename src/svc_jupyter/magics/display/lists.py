"""Lists of the service's things as people read them: statuses with their icons, durations and enumerations in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import (
    ACTIVE,
    DONE,
    FAILED,
    ICONS,
    RUNNING,
    WAITING,
    WAITING_COMMAND,
    WORDS_OF_ACTIONS,
    WORDS_OF_CLUSTERS,
)
from svc_jupyter.durations import elapsed
from svc_jupyter.widgets.clusters.words import ICONS as CLUSTER_ICONS

if TYPE_CHECKING:
    import pandas as pd

STATUSES = frozenset({"status", "state"})
"""Columns of lists that have statuses."""
_ICONS = {
    **ICONS,
    **{word: ICONS[status] for status, word in WORDS_OF_ACTIONS.items()},
    WAITING_COMMAND: WAITING,
    **{WORDS_OF_CLUSTERS[state]: icon for state, icon in CLUSTER_ICONS.items()},
}
_CLASSES = {DONE: "ok", ACTIVE: "ok", FAILED: "bad", RUNNING: "on", WAITING: "on"}
STYLE = """<style>
.svc-grid.svc-grid .ok{color:var(--jp-success-color1,var(--vscode-charts-green,green))}
.svc-grid.svc-grid .bad{color:var(--jp-error-color1,var(--vscode-errorForeground,firebrick))}
.svc-grid.svc-grid .on{color:var(--jp-brand-color1,var(--vscode-charts-blue,royalblue))}
</style>"""
"""The colours of statuses, by `class_of`."""


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a list for reading: `✗ failed`, `2 min 5 s`, `etl, default`; its other columns are as they are."""
    import pandas as pd

    shown = frame.copy(deep=False)
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind == "m":
            texts = [None if pd.isna(value) else elapsed(value.total_seconds()) for value in column]
        elif name in STATUSES:
            texts = [_with_icon(value) for value in column]
        elif any(isinstance(value, list) for value in column):
            texts = [", ".join(map(str, value)) for value in column]
        else:
            continue
        shown[name] = pd.Series(texts, index=frame.index, dtype="object")
    return shown


def class_of(text: str) -> str:
    """Return the class of `STYLE` for a status with its icon; empty for one without a colour."""
    return _CLASSES.get(text.partition(" ")[0], "")


def _with_icon(word: Any) -> Any:
    icon = _ICONS.get(word) if isinstance(word, str) else None
    return word if icon is None else f"{icon} {word}"
