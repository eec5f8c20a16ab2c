"""A warm notebook kernel, driven as by a front end; times are taken inside it."""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jupyter_client.manager import KernelManager

from benchmarks.surroundings import environment

_ANSWER_SECONDS = 600


class Kernel:
    """An ipykernel, started by `with`, in which the functions of `in_kernel` can be called."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._environment = environment(folder, **variables)
        file = str(folder / "kernel.json")
        self._manager = KernelManager(kernel_name="python3", connection_file=file, transport="ipc")

    def __enter__(self) -> Self:
        self._manager.start_kernel(env=self._environment)
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=_ANSWER_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel()
        self._manager.cleanup_resources()

    @property
    def pid(self) -> int:
        """The number of the kernel's process."""
        return int(self.call("process_number"))

    def complete(self, code: str) -> tuple[float, list[str]]:
        """Ask for the matches at the end of a cell; return the seconds until the answer, and the matches."""
        started = time.perf_counter()
        answer = self._client.complete(code, reply=True, timeout=_ANSWER_SECONDS)["content"]
        return time.perf_counter() - started, list(answer["matches"])

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of `in_kernel` with JSON values and return its answer.

        Raises RuntimeError with the kernel's error.
        """
        code = f"import benchmarks.in_kernel as _b; _v = _b.call({function!r}, {json.dumps(arguments)!r})"
        reply = self._client.execute_interactive(
            code,
            store_history=False,
            allow_stdin=False,
            timeout=_ANSWER_SECONDS,
            output_hook=lambda _message: None,
            user_expressions={"answer": "_v"},
        )["content"]
        if reply["status"] != "ok":
            raise RuntimeError("\n".join([f"{reply['ename']}: {reply['evalue']}", *reply["traceback"]]))
        return json.loads(ast.literal_eval(reply["user_expressions"]["answer"]["data"]["text/plain"]))
