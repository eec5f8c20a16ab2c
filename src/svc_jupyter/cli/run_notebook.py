"""`svc-jupyter run-notebook`: execute a notebook in a kernel and print its cells and outputs."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from svc_jupyter.files import replacing
from svc_jupyter.service.ground.imports import without_the_grammar_of_addresses
from svc_jupyter.terminal_text import plain

if TYPE_CHECKING:
    from nbclient import NotebookClient
    from nbformat import NotebookNode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run-notebook`."""
    parser.add_argument("notebook", type=Path, help="notebook to execute; it stays as it is")
    parser.add_argument("--output", type=Path, help="write the executed copy there")


def run(arguments: argparse.Namespace) -> int:
    """Execute; return 0, or 1 when a cell fails, the notebook cannot be read, or a required package is missing."""
    missing = [name for name in ("nbformat", "nbclient", "ipykernel") if find_spec(name) is None]
    if missing:
        return _fail(f"{', '.join(missing)} not installed: pip install 'svc-jupyter[demo]'")
    with without_the_grammar_of_addresses():
        import nbformat

    try:
        notebook = _read(arguments.notebook)
    except OSError as error:
        return _fail(f"{arguments.notebook}: {error.strerror}")
    except nbformat.reader.NotJSONError:
        return _fail(f"{arguments.notebook} is not a notebook")
    sources = cell_sources(notebook)
    code = _execute(notebook, arguments.notebook.resolve().parent)
    if arguments.output is not None:
        kept = write_copy(notebook, arguments.output, sources)
        print(f"executed copy: {arguments.output}" + (f" (yours is kept as {kept})" if kept else ""), flush=True)
    return code


def _execute(notebook: NotebookNode, folder: Path) -> int:
    """Run the cells in a kernel of this Python and print them; return 1 when one fails."""
    from jupyter_client.kernelspec import NATIVE_KERNEL_NAME
    from nbclient import NotebookClient
    from traitlets.config import Config

    def show_source(cell: NotebookNode, cell_index: int) -> None:  # noqa: ARG001  the hook's signature
        print(cell_text(cell), flush=True)

    def show_outputs(cell: NotebookNode, cell_index: int, execute_reply: dict[str, Any]) -> None:  # noqa: ARG001
        for output in cell.outputs:
            print(output_text(output), flush=True)
        print(flush=True)

    # Use sockets that only this user can open: all users of the machine can open a port, and the kernel warns.
    with tempfile.TemporaryDirectory(prefix="svc-kernel-") as sockets:
        client = NotebookClient(
            notebook,
            config=Config(ConnectionFileMixin={"transport": "ipc", "connection_file": f"{sockets}/kernel.json"}),
            kernel_name=NATIVE_KERNEL_NAME,
            timeout=None,
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
            on_cell_start=show_source,
            on_cell_executed=show_outputs,
        )
        with Path(sockets, "log").open("w+b") as log:
            return _outcome(client, log)


def _outcome(client: NotebookClient, log: IO[bytes]) -> int:
    """Run the cells; the log gets what the kernel says of itself, which may be of interest only where it dies.

    A kernel that is shut down while it answers writes a traceback there.
    """
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    try:
        client.execute(stderr=log)
    except CellExecutionError as error:
        return _fail(f"a cell failed: {error_text(error.ename, error.evalue)}")
    except DeadKernelError:
        log.seek(0)
        print(log.read().decode("utf-8", "replace"), end="", file=sys.stderr)
        return _fail("the kernel ended by itself: too little memory?")
    return 0


def _read(path: Path) -> NotebookNode:
    import nbformat

    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def cell_sources(notebook: NotebookNode) -> list[str]:
    """Return the user's part of the notebook: the sources of its cells."""
    return [cell.source for cell in notebook.cells]


def write_copy(notebook: NotebookNode, target: Path, published: list[str]) -> Path | None:
    """Write the executed notebook; return the backup of an earlier copy that was edited, or None."""
    import nbformat

    target.parent.mkdir(parents=True, exist_ok=True)
    kept = None
    if target.exists() and not _is_copy_of(target, published):
        number = next(n for n in range(1, sys.maxsize) if not target.with_stem(f"{target.stem}-{n}").exists())
        kept = target.with_stem(f"{target.stem}-{number}")
        target.replace(kept)
    with replacing(target) as draft:
        nbformat.write(notebook, draft)  # type: ignore[no-untyped-call]
    return kept


def _is_copy_of(path: Path, published: list[str]) -> bool:
    import nbformat

    try:
        return cell_sources(_read(path)) == published
    except (nbformat.reader.NotJSONError, UnicodeDecodeError):
        return False


def _fail(message: str) -> int:
    print(f"svc-jupyter run-notebook: {message}", file=sys.stderr)
    return 1


_RULE_WIDTH = 100
_KILOBYTE = 1000


def cell_text(cell: Mapping[str, Any]) -> str:
    """Return a cell as text: prose unchanged, headings within a rule, code behind a bar."""
    if cell["cell_type"] != "code":
        return "\n".join(_prose_line(line) for line in str(cell["source"]).splitlines()) + "\n"
    return "\n".join(f"│ {line}" for line in str(cell["source"]).splitlines())


def output_text(output: Mapping[str, Any]) -> str:
    """Return the text of an output; an image is described by its type and size."""
    kind = output["output_type"]
    if kind == "stream":
        return str(output["text"]).rstrip("\n")
    if kind == "error":
        return plain("\n".join(output["traceback"]))
    data: Mapping[str, Any] = output["data"]
    pictures = [name for name in data if name.startswith("image/")]
    if pictures:
        # Base64: four characters encode three bytes.
        size = len(str(data[pictures[0]])) * 3 // 4
        return f"[{pictures[0].removeprefix('image/')} picture, {size / _KILOBYTE:.0f} kB: see the executed copy]"
    return plain(str(data.get("text/plain", f"[{', '.join(data)}]")))


def error_text(name: str, message: str) -> str:
    """Return the first line of an error; the full text is among the cell's outputs."""
    first = plain(message).strip().partition("\n")[0]
    return f"{name}: {first}" if first else name


def _prose_line(line: str) -> str:
    heading = re.match(r"#{1,6} (.*)", line)
    if heading is None:
        return line
    title = heading[1]
    return f"── {title} " + "─" * max(_RULE_WIDTH - len(title) - 4, 0)
