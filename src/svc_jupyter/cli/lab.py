"""`svc-jupyter lab`: the embedded service with JupyterLab."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from svc_jupyter.cli.embedded import embedded_client
from svc_jupyter.client import SvcError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `lab`."""
    parser.add_argument("notebook", nargs="?", type=Path, help="notebook or folder to open (the current folder)")
    parser.add_argument("--port", type=int, help="port of JupyterLab (8888, or the next free one)")
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")


def run(arguments: argparse.Namespace) -> int:
    """Start the service and exec JupyterLab; return 1 when it is not installed or the notebook does not exist."""
    if find_spec("jupyterlab") is None:
        return _fail("JupyterLab is not installed: pip install 'svc-jupyter[demo]' or pip install jupyterlab")
    if arguments.notebook is not None and not arguments.notebook.exists():
        return _fail(f"there is no {arguments.notebook}")
    try:
        with embedded_client() as client:
            account = client.account.get()
            print(f"service at {client.base_url} as {account.email}", flush=True)
    except SvcError as error:
        return _fail(error.message)
    command = jupyterlab_command(arguments, Path.cwd(), as_root=os.geteuid() == 0)
    return _become(command)


def _become(command: list[str]) -> NoReturn:
    """Replace this process, so that Ctrl-C and the exit code are JupyterLab's own."""
    os.execv(command[0], command)  # noqa: S606


def jupyterlab_command(arguments: argparse.Namespace, cwd: Path, *, as_root: bool) -> list[str]:
    """Return JupyterLab's command line: it serves `cwd`, or the notebook's folder if that is elsewhere."""
    command = [sys.executable, "-m", "jupyterlab"]
    root = cwd.resolve()
    if arguments.notebook is not None:
        path = (cwd / arguments.notebook).resolve()
        if not path.is_relative_to(root):
            root = path if path.is_dir() else path.parent
        # Not as the file to open: the printed address would not lead to it.
        command.append(f"--LabApp.default_url=/lab/tree/{quote(path.relative_to(root).as_posix())}")
    command.append(f"--ServerApp.root_dir={root}")
    if arguments.port is not None:
        command.append(f"--port={arguments.port}")
    if arguments.no_browser:
        command.append("--no-browser")
    if as_root:
        command.append("--allow-root")
    return command


def _fail(message: str) -> int:
    print(f"svc-jupyter lab: {message}", file=sys.stderr)
    return 1
