"""The notebook of the kernel, as far as its front end tells it."""

from __future__ import annotations

import json
import os
import re
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any

from svc_jupyter.api.paths import NOTEBOOK_VARIABLE
from svc_jupyter.api.text import UNREADABLE, mended
from svc_jupyter.magics.display.progress import in_kernel

_SERVER = "JPY_PARENT_PID"
"""The variable with the process of the Jupyter server that started the kernel."""
_OF_VSCODE = "__vsc_ipynb_file__"
"""The name under which VS Code tells a kernel its notebook."""
_ANSWER_SECONDS = 1.0


def notebook_path(variables: Mapping[str, Any]) -> Path | None:
    """Return the file of the kernel's notebook; None where it is not known. `variables` are the kernel's.

    A kernel keeps its environment when its notebook is renamed, and another may take the name. So the Jupyter server is
    asked first.
    """
    named = variables.get(_OF_VSCODE) or _of_session() or os.environ.get(NOTEBOOK_VARIABLE)
    return Path(named) if isinstance(named, str) and named else None


def notebook_name(shell: Any) -> str | None:
    """Return the name of the notebook that a shell runs: empty where it is not known, None for a shell in a terminal.

    A run in the service knows the name alone, and no file.
    """
    if not in_kernel(shell):
        return None
    path = notebook_path(shell.user_ns)
    if path is None or (path.is_absolute() and not os.path.exists(path)):
        return ""
    return re.sub(f"[{UNREADABLE}]", "\ufffd", mended(path.name))


def _of_session() -> str | None:
    """Return the file that the Jupyter server which started this kernel has for it; None where it does not tell.

    Every cell asks, and this takes a millisecond; httpx takes 30, for certificates that are of no use here.
    """
    from ipykernel import connect
    from jupyter_core.paths import jupyter_runtime_dir

    try:
        connection = Path(connect.get_connection_file()).name
        about = Path(jupyter_runtime_dir(), f"jpserver-{os.environ[_SERVER]}.json")
        server = json.loads(about.read_text(encoding="utf-8"))
        token = {"Authorization": f"token {server['token']}"}
        asked = urllib.request.Request(f"{server['url']}api/sessions", headers=token)  # noqa: S310  the server's own word
        no_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with no_proxy.open(asked, timeout=_ANSWER_SECONDS) as answer:
            sessions = json.load(answer)
        paths = {f"kernel-{session['kernel']['id']}.json": session["path"] for session in sessions}
        return str(Path(server["root_dir"], paths[connection]))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, HTTPException):
        return None
