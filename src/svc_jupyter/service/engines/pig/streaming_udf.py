"""Runs Pig's controller of Python functions in Python 3: `streaming_udf.py CONTROLLER ARGUMENTS...`.

Pig starts this in place of `python`. Its controller speaks Python 3, except for one thing: it tells the error of a
function by writing text where only bytes can go, so that the error is lost. And where Java is killed, it would look
for its next row for ever. Nothing of the service is imported here.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_LOOK_SECONDS = 0.5


class _Text:
    """Takes text for a stream of bytes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write text as UTF-8."""
        self._stream.write(text.encode("utf-8", "replace"))


def telling(write_user_exception: Callable[..., None]) -> Callable[..., None]:
    """Return Pig's function that tells an error, so that it reaches Pig."""

    def told(filename: str, stream: Any, offset: int = 0) -> None:
        write_user_exception(filename, _Text(stream), offset)

    return told


def end_with(parent: int) -> None:
    """End this process, in the middle of a function if need be, once its parent is no longer this one."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def main(arguments: list[str]) -> None:
    """Run the controller as if it had been started itself."""
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    controller = arguments[0]
    sys.argv = arguments
    sys.path[0] = os.path.dirname(controller)
    pig_util = importlib.import_module("pig_util")
    pig_util.write_user_exception = telling(pig_util.write_user_exception)  # type: ignore[attr-defined]
    runpy.run_path(controller, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
