"""The Jupyter Server extension: forwards a page's requests to the data-processing service, as the server's user."""

from __future__ import annotations


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    from svc_jupyter.server.extension import SvcJupyterServer

    return [{"module": "svc_jupyter.server", "app": SvcJupyterServer}]
