"""What a command made besides its rows: the DUMPs of a Pig command, the TABLEs of a note, an executed notebook."""

from __future__ import annotations

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandType
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import ResultUnavailable
from svc_jupyter.client.transport.calls import Call


def number_of_dump(command: Tracked, wanted: str | int) -> int:
    """Return the number, from 1, of an alias's last DUMP, or check a given number.

    Raises ResultUnavailable with the list of existing dumps.
    """
    aliases = [dump.alias for dump in command.dumps]
    numbers = [number for number, alias in enumerate(aliases, start=1) if wanted in (alias, number, str(number))]
    if not numbers:
        there = ", ".join(dict.fromkeys(aliases)) or "none"
        raise ResultUnavailable(f"command {command.id} has no DUMP {wanted}; there is {there}")
    return numbers[-1]


def check_table(command: Tracked, number: int) -> None:
    """Raise ResultUnavailable unless a note's run has shown a TABLE of that number, from 1."""
    count = len(command.tables)
    if not 1 <= number <= count:
        there = f"there are {count}" if count else "there is none"
        raise ResultUnavailable(f"command {command.id} has no table {number}; {there}")


def table_texts(text: str) -> list[str]:
    """Return the TABLEs of a note's run as texts with headers; they are separated by blank lines."""
    return [part for part in text.replace("\r\n", "\n").split("\n\n") if part.strip("\n")]


NOTEBOOK = "application/x-ipynb+json"
PAGE = "text/html"


def executed_call(run: Tracked, media_type: str) -> Call:
    """Return the call for the executed notebook; raises ResultUnavailable for a command of another type."""
    if run.record.command_type != CommandType.JUPYTER_NOTEBOOK:
        raise ResultUnavailable(f"command {run.id} is a {run.record.command_type}; only a notebook run has a notebook")
    return Call("GET", paths.command(run.id, "results"), accept=media_type)
