"""Explains to users why a Presto server ended, from its output."""

from __future__ import annotations

import re
from typing import Final

from svc_jupyter.service.runtimes.hadoop.causes import explain as explain_daemon

_WRONG_SETTING: Final = re.compile(
    r"^\s*\d+\) (.*(?:was not used|Could not coerce value|may not be null|must be|Invalid value).*)$", re.MULTILINE
)
"""A line of the list in which the server reports settings that it cannot use."""


def explain(host: str, output: str, exit_code: int | None) -> str:
    """Return why a server ended: what happened, where, and what to do; `output` is the end of its error output."""
    if (setting := _WRONG_SETTING.search(output)) is not None:
        return (
            f"presto on {host} ended: {setting[1].strip()}. Correct presto_settings.custom_config, then start the "
            "cluster again"
        )
    return explain_daemon("presto", host, output, exit_code)
