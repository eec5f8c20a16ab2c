"""A command type whose programs are short Bash scripts, to run jobs with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.processes.durable_process import DurableProcess

Script = Callable[[Task], str]


class Scripted:
    """A command type that runs a Bash script, after whatever `prepare` does; it keeps the tasks it was given."""

    command_type = CommandType.SHELL

    def __init__(self, script: Script, prepare: Callable[[Desk], Awaitable[None]] | None = None) -> None:
        self.tasks: list[Task] = []
        self._script = script
        self._prepare = prepare

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        raise NotImplementedError

    async def run(self, task: Task, desk: Desk) -> Outcome:
        self.tasks.append(task)
        process = await desk.process(partial(self._start, task, desk))
        code = await process.wait()
        if code == 0:
            return Outcome(True, exit_code=0, result=StoredResult(ResultForm.LINES, f"{task.attempt}/out", 0))
        return Outcome(False, f"exited with {code}", code, may_retry=code != 99)

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        if self._prepare is not None:
            await self._prepare(desk)
        return DurableProcess.start(
            folder=task.folder,
            argv=["bash", "-c", self._script(task)],
            cwd=task.working_folder,
            environment={"PATH": "/usr/local/bin:/usr/bin:/bin", **task.environment},
            log=task.log_file,
        )
