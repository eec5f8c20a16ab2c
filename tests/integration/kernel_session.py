"""A real kernel and what a front end sees of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

SECONDS = 60.0
"""How long a cell may take on a busy machine before the test calls it stuck."""


@dataclass
class Cell:
    """One executed cell: the reply and the outputs in their order."""

    reply: dict[str, Any] = field(default_factory=dict)
    outputs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def status(self) -> str:
        return str(self.reply["content"]["status"])

    @property
    def error(self) -> str:
        """The error as the front end shows it."""
        [error] = [output["content"] for output in self.outputs if output["msg_type"] == "error"]
        return "\n".join(error["traceback"])

    @property
    def lines(self) -> list[str]:
        """The texts of the progress line, also those that were replaced."""
        kinds = ("display_data", "update_display_data")
        return [output["content"]["data"]["text/plain"] for output in self.outputs if output["msg_type"] in kinds]

    @property
    def result(self) -> dict[str, str]:
        """What the front end got as the cell's value."""
        [result] = [output for output in self.outputs if output["msg_type"] == "execute_result"]
        return dict(result["content"]["data"])


class KernelSession:
    """A kernel with one front end; `close` ends it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=environment)
        self.client: BlockingKernelClient = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()
        self.manager.context.destroy(linger=0)

    def run(self, code: str, on_output: Callable[[dict[str, Any]], None] | None = None) -> Cell:
        """Run a cell as a front end with a person does; `on_output` sees each output as it arrives."""
        cell = Cell()

        def take(message: dict[str, Any]) -> None:
            cell.outputs.append(message)
            if on_output is not None:
                on_output(message)

        cell.reply = self.client.execute_interactive(
            code, allow_stdin=True, stdin_hook=lambda _: None, output_hook=take, timeout=SECONDS
        )
        return cell

    def value(self, code: str) -> Any:
        """Run a cell that must succeed, and return the value of an expression's JSON."""
        cell = self.run(f"import json as _json\nprint(_json.dumps({code}))")
        assert cell.status == "ok", cell.error
        text = "".join(output["content"]["text"] for output in cell.outputs if output["msg_type"] == "stream")
        return json.loads(text)

    def complete(self, code: str) -> list[str]:
        """Return the matches that the kernel offers at the end of the code."""
        reply = self.client.complete(code, reply=True, timeout=SECONDS)
        return list(reply["content"]["matches"])
