"""A worker parent for all tests of a process, and kernels that are not this Python's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import end_commands_of
from tests.service.kinds.notebook.notebooks import WorkerParent

_KERNELS = {
    # By way of another program: what is started so is not the service's own.
    "by-another-way": ("python", ["env", sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]),
    "small-bash": (
        "bash",
        [sys.executable, str(Path(__file__).with_name("bash_kernel.py")), "-f", "{connection_file}"],
    ),
    **{
        f"late-{channel}": (
            "bash",
            [sys.executable, str(Path(__file__).with_name("late_kernel.py")), channel, "-f", "{connection_file}"],
        )
        for channel in ("shell", "iopub")
    },
    "no-program": ("python", ["/nonexistent/kernel", "{connection_file}"]),
    "ends-at-once": ("bash", ["false", "{connection_file}"]),
}


@pytest.fixture(scope="session")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerParent]:
    """The runs' parent; what its runs leave behind is ended afterwards."""
    folder = tmp_path_factory.mktemp("runs")
    for name, (language, argv) in _KERNELS.items():
        spec = folder / "kernels" / name / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(
            json.dumps({"argv": argv, "display_name": name, "language": language, "env": {"ADDED": "${HOME}/x"}})
        )
    with WorkerParent(folder) as parent:
        yield parent
    end_commands_of(folder)
