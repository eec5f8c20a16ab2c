"""Read the result of a finished command as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.cells.running import Reader
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.display.formats import FORMATS, LINES, NotInFormat, parsed_frame

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Command, Result


def text_reader(output_format: str) -> Reader:
    """Return the reader of a text output in one of the formats; it raises SvcMagicError for other output."""
    if output_format == LINES:
        return plain_reader
    return lambda command: _in_format(command, command.result(), output_format)


def plain_reader(command: Command) -> pd.DataFrame:
    """Read a result unchanged: its typed columns, or the lines of a text output in the column `line`."""
    return command.result().to_pandas()


def dump_reader(wanted: str) -> Reader:
    """Return the reader of a DUMP of a Pig command, by its alias or number."""
    return lambda command: command.dump(wanted).to_pandas()


def sub_reader(number: int | None, output_format: str = LINES) -> Reader:
    """Return the reader of a composite: a sub-command's result, counted from 1, or the last one with rows."""

    def read(command: Command) -> pd.DataFrame:
        result = command.sub_result(number)
        return result.to_pandas() if output_format == LINES else _in_format(command, result, output_format)

    return read


def _in_format(command: Command, result: Result, output_format: str) -> pd.DataFrame:
    try:
        return parsed_frame(result.text(), output_format)
    except NotInFormat as error:
        raise SvcMagicError(
            f"command {command.id} is done, but {error}\n"
            f"  %svc_command {command.id} result shows its lines; --format takes {', '.join(FORMATS)}"
        ) from None


def reader_of(command: Command, output_format: str | None) -> Reader:
    """Return the reader for a command whose type is known only now."""
    if command.record.command_type == "CompositeCommand":
        return sub_reader(None, output_format or LINES)
    if command.has_typed_results and output_format is not None:
        raise SvcUsageError(f"command {command.id} has typed columns; --format is for the output of scripts")
    return text_reader(output_format or LINES)
