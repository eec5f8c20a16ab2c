"""A plugin for nbval that leaves out what names one run: a command's id and when it began, kept for JupyterLab."""

from __future__ import annotations

from typing import Any

from svc_jupyter.magics.display.grid import RESULT
from svc_jupyter.magics.display.status import STATUS


def pytest_itemcollected(item: Any) -> None:
    """Add the media types to those that nbval leaves out of the comparison."""
    file = item.parent
    if STATUS not in getattr(file, "skip_compare", (STATUS,)):
        file.skip_compare = (*file.skip_compare, STATUS, RESULT)
