"""The executed notebook of a `JupyterNotebookCommand`, including failed runs."""

from __future__ import annotations

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandType
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import ResultUnavailable
from svc_jupyter.client.transport.calls import Call, Flow, exchange

NOTEBOOK = "application/x-ipynb+json"
PAGE = "text/html"


def executed_notebook(run: Tracked, media_type: str) -> Flow[str]:
    """Return the executed notebook, as the text of a notebook file or as an HTML page.

    Raises ResultUnavailable for a command of another type, and when the service does not keep it.
    """
    if run.record.command_type != CommandType.JUPYTER_NOTEBOOK:
        raise ResultUnavailable(f"command {run.id} is a {run.record.command_type}; only a notebook run has a notebook")
    response = yield from exchange(run._link, Call("GET", paths.command(run.id, "results"), accept=media_type))
    if not response.headers.get("Content-Type", "").startswith(media_type):
        raise ResultUnavailable(f"the service does not send the executed notebook of command {run.id}")
    return response.text
