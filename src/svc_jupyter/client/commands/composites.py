"""The sub-commands of a composite command.

A service with the extensions runs each as a separate command with its own record and results. Other services know them
only by number and send their results as text.
"""

from __future__ import annotations

from collections.abc import Sequence

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandList, CommandRecord, CommandType
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import ResultUnavailable
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE


def sub_commands_call(composite: Tracked) -> Call:
    """Return the call for the sub-commands, which only a service with the extensions can list."""
    params = {
        "parent_id": composite.id,
        "all_users": 1,
        "start_date": composite.record.created_at,  # by default a list begins 30 days ago
        "page": 1,
        "per_page": WHOLE_PAGE,
    }
    return Call("GET", paths.api("commands"), params)


def sub_commands_in(listing: CommandList, composite: Tracked) -> list[CommandRecord]:
    """Return the records of the sub-commands that have started, in order."""
    children = [record for record in listing.commands if record.parent_id == composite.id]
    return sorted(children, key=lambda record: record.child_number or 0)


def check_number(composite: Tracked, number: int | None) -> None:
    """Raise ResultUnavailable for a command that is not a composite, or for an unknown number."""
    total = count_of(composite.record)
    if not total:
        raise ResultUnavailable(f"command {composite.id} is not a composite command")
    if number is not None and not 1 <= number <= total:
        raise ResultUnavailable(f"command {composite.id} has {total} sub-commands, numbered from 1")


def sub_command(
    composite: Tracked, children: Sequence[CommandRecord], number: int | None
) -> tuple[Tracked, int | None]:
    """Return a sub-command and the number with which to ask the composite for its results, or None.

    Without `number`, the last one that has rows, or else the last. Raises ResultUnavailable for one that has not begun.
    """
    if children:
        having_rows = [record for record in children if record.result_rows]
        wanted = [record for record in children if number in (None, record.child_number)]
        if not wanted:
            raise ResultUnavailable(f"sub-command {number} of command {composite.id} has not begun")
        record = (having_rows or wanted)[-1] if number is None else wanted[0]
        return Tracked(composite._link, record), None
    number = number or count_of(composite.record)
    description = composite.record.command["sub_commands"][number - 1]
    about = {"command_type": description.get("command_type"), "command": description, "qlog": None, "result_rows": None}
    return Tracked(composite._link, composite.record.model_copy(update=about)), number


def count_of(record: CommandRecord) -> int:
    """Return the number of sub-commands; 0 for a command that is not a composite."""
    if record.command_type != CommandType.COMPOSITE:
        return 0
    return len(record.command.get("sub_commands") or [])
