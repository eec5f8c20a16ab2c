"""The IPython magics: `%%svc_shell`, `%%svc_db`, `%svc_command`, `%svc_history`, `%svc_status`, `%svc_config`.

Loading them imports neither an HTTP client nor pandas and opens no connection: the first use does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.extension import Extension

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load", "unload"]

_loaded: dict[int, Extension] = {}
"""The extension of each shell of this process, by the shell's `id()` (a test may create several)."""


def load(shell: InteractiveShell) -> Extension:
    """Register the magics, their settings and their completion with a shell; return them."""
    unload(shell)
    return _loaded.setdefault(id(shell), Extension(shell))


def unload(shell: InteractiveShell) -> None:
    """Undo `load` and close the connection; without `load` this does nothing."""
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.remove()
