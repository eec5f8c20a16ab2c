"""Settings of Pig for a script: the service's, then the cluster's own lines (`custom_config`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc_jupyter.service.engines.pig.command_line import PYTHON

EXECTYPE: Final = "pig.exectype"
LOCAL: Final = "local"
_ALWAYS: Final = {"pig.streaming.udf.python.command": PYTHON}
_LOCALLY: Final = {
    "pig.jobcontrol.sleep": "10",  # milliseconds between two looks at a job; the default is half a second
    "mapreduce.task.io.sort.mb": "16",  # a task's buffer is taken whole, and the heap is small
    "mapreduce.client.completion.pollinterval": "50",
    "mapreduce.local.map.tasks.maximum": "2",
}


def is_local(settings: Mapping[str, str]) -> bool:
    """Whether a cluster's settings say that Pig needs no daemons."""
    return settings.get(EXECTYPE, "").lower() == LOCAL


def local_properties(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a script that runs in its own Java; the cluster's settings count last."""
    return {**_ALWAYS, **_LOCALLY, **settings}
