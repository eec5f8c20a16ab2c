"""A kernel of another language: runs each cell by Bash, stdout and stderr apart."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class BashKernel(Kernel):
    implementation = "small-bash"
    implementation_version = "1"
    banner = ""
    language_info = {"name": "bash", "mimetype": "text/x-sh", "file_extension": ".sh"}  # noqa: RUF012

    _before = ""

    async def do_execute(self, code: str, silent: bool, *_more: Any, **_named: Any) -> dict[str, Any]:
        script = f"{{ :\n{self._before}\n}} >/dev/null 2>&1\n{code}"
        ended = await asyncio.to_thread(subprocess.run, ["bash", "-c", script], capture_output=True, text=True)
        for name, text in (("stdout", ended.stdout), ("stderr", ended.stderr)):
            if text:
                self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})
        if ended.returncode == 0:
            self._before += f"{code}\n"
            asked = [{"source": "ask_exit", "keepkernel": False}] if code.endswith("exit 0") else []
            return {"status": "ok", "execution_count": self.execution_count, "payload": asked, "user_expressions": {}}
        error = {"ename": "Exit", "evalue": str(ended.returncode), "traceback": [ended.stderr]}
        self.send_response(self.iopub_socket, "error", error)
        return {"status": "error", "execution_count": self.execution_count, **error}


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=BashKernel)
