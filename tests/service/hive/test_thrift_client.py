"""What loading the metastore's client leaves in memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

LOAD = """
import resource
from tests.support.memory import Peak
from svc_jupyter.service.runtimes.metastore.connections import client_class

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

before, peak = resident(), Peak()
assert client_class() is client_class()
assert peak.growth > 80 * 2**20, "nothing was compiled"
print(resident() - before)
"""


@pytest.mark.all  # compiling without bytecode takes up to 20 s
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_used_to_compile_the_client_is_released(tmp_path):
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    load = [sys.executable, "-c", LOAD]
    loaded = subprocess.run(load, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert int(loaded.stdout) < 60 * 2**20
