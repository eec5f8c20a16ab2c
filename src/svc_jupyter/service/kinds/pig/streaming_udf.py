"""Runs Pig's controller of Python functions in Python 3: `streaming_udf.py CONTROLLER ARGUMENTS...`.

Pig starts this in place of `python`. Its controller works in Python 3, with two exceptions: it reports a function's
error by writing text to a byte stream, so that the error is lost; and after a kill of Java it waits for its next row
forever. This module imports nothing of the service.
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
    """Accepts text for a stream of bytes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write text as UTF-8."""
        self._stream.write(text.encode("utf-8", "replace"))


def telling(write_user_exception: Callable[..., None]) -> Callable[..., None]:
    """Return Pig's function that reports an error, changed so that the error reaches Pig."""

    def reported(filename: str, stream: Any, offset: int = 0) -> None:
        write_user_exception(filename, _Text(stream), offset)

    return reported


def end_with(parent: int) -> None:
    """End this process, even in the middle of a function, once its parent has changed."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def main(arguments: list[str]) -> None:
    """Run the controller as if it had been started directly."""
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    controller = arguments[0]
    sys.argv = arguments
    sys.path[0] = os.path.dirname(controller)
    pig_util = importlib.import_module("pig_util")
    pig_util.write_user_exception = telling(pig_util.write_user_exception)  # type: ignore[attr-defined]
    runpy.run_path(controller, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
