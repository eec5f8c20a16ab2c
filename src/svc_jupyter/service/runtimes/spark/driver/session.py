"""A session's process: attached to the driver, it runs one statement after the other.

Its stdout and stderr are those of the running statement. It reads a line of JSON per statement, and writes one when the
statement has ended. A line with a `question` is answered at once: the server sends none while a statement runs.
"""

from __future__ import annotations

import ctypes
import gc
import io
import json
import os
import signal
import socket
import sys
from pathlib import Path
from types import FrameType

from .attach import attached, keep_scala_alive
from .execution import Execution
from .statement import OUT_FILE, Statement, from_json

_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_PY4J = f"{os.sep}py4j{os.sep}"
ENDED = "ended"


def run_session(link: socket.socket, settings: dict[str, str | int | None]) -> None:
    """Run the session until the link is closed."""
    os.setsid()
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jvm_session = settings["jvm_session"]
    spark = attached(None if jvm_session is None else str(jvm_session))
    reader, writer = link.makefile("rb"), link.makefile("wb", buffering=0)
    thread = spark.sparkContext._jvm.java.lang.Thread.currentThread().getId()
    keep_scala_alive(spark)
    classes, number = Path(str(settings["classes"])), int(settings["number"] or 0)
    execution = Execution(spark, classes, number, lambda rows: _report(writer, rows=rows))
    _report(writer, ready=True, jvm_session=spark._jsparkSession._target_id, thread=int(thread))
    for line in reader:
        asked = json.loads(line)
        if "question" in asked:
            _report(writer, answered=asked["id"], answer=execution.completion.answer(asked["question"]))
            continue
        statement = from_json(line)
        interrupts = _Interrupts()
        succeeded = _with_outputs(statement, execution, interrupts)
        _report(writer, ended=statement.id, succeeded=succeeded, is_intact=interrupts.is_link_intact)
    execution = spark = None  # type: ignore[assignment]
    gc.collect()  # lets the driver release what only this session held


class _Interrupts:
    """Interrupts Python code, and notes whether that broke its link to the driver.

    An interrupt during a call to the driver leaves an answer unread: the process cannot be used any more.
    """

    def __init__(self) -> None:
        self.is_link_intact = True

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if _PY4J in frame.f_code.co_filename:
                self.is_link_intact = False
            frame = frame.f_back
        raise KeyboardInterrupt


def _with_outputs(statement: Statement, execution: Execution, interrupts: _Interrupts) -> bool:
    for descriptor, path in ((1, f"{statement.folder}/{OUT_FILE}"), (2, statement.log)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, descriptor)
        os.close(file)
    signal.signal(signal.SIGINT, interrupts)
    try:
        return execution.run(statement)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdout.flush()
        sys.stderr.flush()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        os.chdir("/")


def _report(writer: io.RawIOBase, **what: object) -> None:
    writer.write(json.dumps(what).encode() + b"\n")
