"""Settings of Pig for a script: the service's, then the cluster's own lines (`custom_config`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc_jupyter.service.engines.pig.command_line import PYTHON

EXECTYPE: Final = "pig.exectype"
LOCAL: Final = "local"
_ALWAYS: Final = {"pig.streaming.udf.python.command": PYTHON}
_PART_BYTES: Final = str(16 << 20)
_LOCALLY: Final = {
    "pig.jobcontrol.sleep": "10",  # milliseconds between two looks at a job; the default is half a second
    "mapreduce.task.io.sort.mb": "16",  # a task's buffer is taken whole, and the heap is small
    "mapreduce.client.completion.pollinterval": "50",
    # A file is read in parts side by side; by default one of less than 32 MB is read by one task.
    "mapreduce.input.fileinputformat.split.maxsize": _PART_BYTES,
    "pig.maxCombinedSplitSize": _PART_BYTES,
}
_MOST_TASKS: Final = 4
"""How many parts are read at once where there are processors: each takes a share of one small heap."""


def is_local(settings: Mapping[str, str]) -> bool:
    """Whether a cluster's settings say that Pig needs no daemons."""
    return settings.get(EXECTYPE, "").lower() == LOCAL


def local_properties(settings: Mapping[str, str], processors: int) -> dict[str, str]:
    """Return the properties of a script that runs in its own Java; the cluster's settings count last."""
    tasks = {"mapreduce.local.map.tasks.maximum": str(min(processors, _MOST_TASKS))}
    return {**_ALWAYS, **_LOCALLY, **tasks, **settings}
