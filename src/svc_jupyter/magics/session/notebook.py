"""The notebook of the kernel, as far as its front end tells it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svc_jupyter.api.text import UNREADABLE, mended
from svc_jupyter.magics.display.progress import in_kernel

_OF_JUPYTER = "JPY_SESSION_NAME"
"""The variable in which a Jupyter server names the notebook of a kernel."""
_OF_VSCODE = "__vsc_ipynb_file__"
"""The name under which VS Code tells a kernel its notebook."""


def notebook_path(variables: Mapping[str, Any]) -> Path | None:
    """Return the file of the kernel's notebook; None where it is not known. `variables` are the kernel's."""
    named = variables.get(_OF_VSCODE) or os.environ.get(_OF_JUPYTER)
    return Path(named) if isinstance(named, str) and named else None


def notebook_name(shell: Any) -> str | None:
    """Return the name of the notebook that a shell runs: empty where it is not known, None for a shell in a terminal.

    A notebook that was renamed since its kernel began has no file of that name any more, so its name is not known; a
    run in the service knows the name alone.
    """
    if not in_kernel(shell):
        return None
    path = notebook_path(shell.user_ns)
    if path is None or not (path == Path(path.name) or os.path.exists(path)):
        return ""
    return re.sub(f"[{UNREADABLE}]", "\ufffd", mended(path.name))
