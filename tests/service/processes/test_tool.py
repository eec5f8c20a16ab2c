"""Programs that run to their end; that they end as asked is in tests/service/installs."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import asyncio, os
from svc_jupyter.service.processes.tool import run

forks = []
os.register_at_fork(before=lambda: forks.append(1))
ended = asyncio.run(run(["sh", "-c", "echo started; exit 3"], seconds=60))
print(ended.code, ended.output.strip(), len(forks))
"""


def test_a_program_starts_without_a_fork_of_the_service():
    """A fork's child runs what every library registered for it, and may wait there for ever, the service with it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert done.stdout == "3 started 0\n"
