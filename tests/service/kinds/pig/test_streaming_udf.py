"""What Pig starts in place of `python` for a Python function."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
from tests.support.service_process import wait_until

from svc_jupyter.service.kinds.pig import streaming_udf
from svc_jupyter.service.processes.marks import is_living

CONTROLLER = """
import sys, pig_util
if sys.argv[1] == "tell":
    pig_util.write_user_exception("udf", sys.stdout.buffer)
    sys.stdout.flush()
else:
    print("ready", flush=True)
    while True:
        sys.stdin.buffer.readline()  # at the end of stdin it looks for its next row forever
"""
PIG_UTIL = """
def write_user_exception(filename, stream, offset=0):
    stream.write("%s\\n" % filename)
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def controller_in(folder: Path) -> str:
    (folder / "pig_util.py").write_text(PIG_UTIL)
    (folder / "controller.py").write_text(CONTROLLER)
    return str(folder / "controller.py")


def test_the_error_of_a_function_reaches_a_stream_of_bytes():
    stream = io.BytesIO()

    streaming_udf.telling(lambda name, text, _offset: text.write(f"{name}: zu früh"))("udf", stream)

    assert stream.getvalue().decode() == "udf: zu früh"


def test_the_controller_runs_as_itself_with_the_function_that_reports_errors(tmp_path):
    command = [sys.executable, streaming_udf.__file__, controller_in(tmp_path), "tell"]
    ended = subprocess.run(command, capture_output=True, timeout=30, check=True)

    assert ended.stdout == b"udf\n"


def test_it_ends_with_the_java_that_started_it(tmp_path):
    arguments = [streaming_udf.__file__, controller_in(tmp_path), "wait"]
    with subprocess.Popen([sys.executable, "-c", PARENT, *arguments], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        try:
            parent.send_signal(signal.SIGKILL)
            wait_until(lambda: not is_living(child), "its end")
        finally:
            with suppress(psutil.NoSuchProcess):
                child.kill()
