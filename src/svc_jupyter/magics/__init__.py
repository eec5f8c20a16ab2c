"""The IPython magics: `%%svc_shell`, `%%svc_db`, `%svc_command`, `%svc_history`, `%svc_status`, `%svc_config`.

Loading them imports no HTTP client, no pandas and connects to nothing: that happens at the first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.extension import Extension

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load", "unload"]

_loaded: dict[int, Extension] = {}
"""The extension of each shell of this process, by the shell's identity (a test may make several)."""


def load(shell: InteractiveShell) -> None:
    """Register the magics, their settings and their completion with a shell."""
    unload(shell)
    _loaded[id(shell)] = Extension(shell)


def unload(shell: InteractiveShell) -> None:
    """Take back what `load` registered and close the connection; without `load` this does nothing."""
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.remove()
