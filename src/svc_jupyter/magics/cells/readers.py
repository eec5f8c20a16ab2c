"""Read the result of a finished command as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.cells.running import Reader
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.display.formats import DTYPES, FORMATS, LINES, NotInFormat, Types, parsed_frame

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Command, Result


def text_reader(output_format: str, types: str | None = None) -> Reader:
    """Return the reader of a text output in one of the formats; it raises SvcMagicError for other output.

    `types` is the value of `--types`; raises SvcUsageError when it is invalid or the format has no columns.
    """
    named = named_types(types, output_format)
    if output_format == LINES:
        return plain_reader
    return lambda command: _in_format(command, command.result(), output_format, named)


def named_types(option: str | None, output_format: str) -> Types:
    """Return the types of `--types zip=str,n=int`. Raises SvcUsageError."""
    types = {}
    for part in (option or "").split(",") if option else ():
        name, equals, kind = part.rpartition("=")
        if not equals or not name or kind not in DTYPES:
            raise SvcUsageError(f"--types takes NAME=TYPE,… with the types {', '.join(DTYPES)}, not {part!r}")
        types[name.strip()] = kind
    if types and output_format == LINES:
        raise SvcUsageError(f"--types is for an output with columns: add --format {'|'.join(FORMATS)}")
    return types


def plain_reader(command: Command) -> pd.DataFrame:
    """Read a result unchanged: its typed columns, or the lines of a text output in the column `line`."""
    return command.result().to_pandas()


def dump_reader(wanted: str) -> Reader:
    """Return the reader of a DUMP of a Pig command, by its alias or number."""
    return lambda command: command.dump(wanted).to_pandas()


def sub_reader(number: int | None, output_format: str = LINES, types: str | None = None) -> Reader:
    """Return the reader of a composite: a sub-command's result, counted from 1, or the last one with rows."""
    named = named_types(types, output_format)

    def read(command: Command) -> pd.DataFrame:
        result = command.sub_result(number)
        return result.to_pandas() if output_format == LINES else _in_format(command, result, output_format, named)

    return read


def _in_format(command: Command, result: Result, output_format: str, types: Types) -> pd.DataFrame:
    try:
        return parsed_frame(result.text(), output_format, types, result.dtypes)
    except NotInFormat as error:
        raise SvcMagicError(
            f"command {command.id} is done, but {error}\n"
            f"  %svc_command {command.id} result shows its lines; --format takes {', '.join(FORMATS)}"
        ) from None


def reader_of(command: Command, output_format: str | None, types: str | None = None) -> Reader:
    """Return the reader for a command whose type is known only now."""
    if command.record.command_type == "CompositeCommand":
        return sub_reader(None, output_format or LINES, types)
    if command.has_typed_results and (output_format or types):
        raise SvcUsageError(f"command {command.id} has typed columns; --format and --types are for scripts' output")
    return text_reader(output_format or LINES, types)
