"""svc-jupyter: a notebook front end to a data-processing service, and the service itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics: what `%load_ext svc_jupyter` calls. Nothing is connected before the first use."""
    from svc_jupyter.magics import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take the magics away again and close the connection: what `%unload_ext svc_jupyter` calls."""
    from svc_jupyter.magics import unload

    unload(shell)
