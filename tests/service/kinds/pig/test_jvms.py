"""What the Java processes of Pig leave, without any Java."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import psutil
from tests.support.service_process import wait_until

from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.kinds.pig.jvms import Jvms
from svc_jupyter.service.processes.marks import environment_mark
from svc_jupyter.service.processes.worker_parent import MARK


def test_the_folder_of_a_java_goes_once_no_process_has_it_and_never_that_of_another_host(tmp_path: Path):
    running = tmp_path / "running"
    used, gone, other = (running / name for name in (f"{socket.gethostname()}-a", f"{socket.gethostname()}-b", "c-d"))
    for folder in (used, gone, other):
        folder.mkdir(parents=True)
    with subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], MARK: str(used)}) as process:
        wait_until(lambda: environment_mark(psutil.Process(process.pid), MARK) == str(used), "its environment")
        try:
            Jvms(Engines(tmp_path / "engines", additions={}), tmp_path, {}).sweep()
            assert sorted(running.iterdir()) == sorted([used, other])
        finally:
            process.kill()
    Jvms(Engines(tmp_path / "engines", additions={}), tmp_path, {}).sweep()
    assert list(running.iterdir()) == [other]
