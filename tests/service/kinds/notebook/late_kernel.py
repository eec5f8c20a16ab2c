"""The kernel of `bash_kernel`, whose port another program has until the run has connected to it.

Between the choice of a port and its use, it may be another's: here a socket that a kernel's client does not fit to.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import zmq

context = zmq.Context()
channel, *arguments = sys.argv[1:]
port = json.loads(Path(arguments[1]).read_text())[f"{channel}_port"]
other = context.socket(zmq.DEALER if channel == "iopub" else zmq.PULL)
monitor = other.get_monitor_socket(zmq.EVENT_DISCONNECTED)
other.bind(f"tcp://127.0.0.1:{port}")
monitor.recv_multipart()
context.destroy(linger=0)
os.execv(sys.executable, [sys.executable, str(Path(__file__).with_name("bash_kernel.py")), *arguments])
