"""Read the result of a finished command as a DataFrame, unless it is too large to be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.cells.running import Reader, Reading
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.display.formats import DTYPES, FORMATS, LINES, NotInFormat, Types, parsed_frame

if TYPE_CHECKING:
    from svc_jupyter.client import Command, Result

_MOST_GROWTH = 32
"""So many times as many bytes as in Arrow a value may have in pandas, such as a decimal or a small dictionary."""


def text_reader(output_format: str, types: str | None = None) -> Reader:
    """Return the reader of a text output in one of the formats; it raises SvcMagicError for other output.

    `types` is the value of `--types`; raises SvcUsageError when it is invalid or the format has no columns.
    """
    named = named_types(types, output_format)
    if output_format == LINES:
        return plain_reader
    return lambda command, limit: _in_format(command, command.result(), limit, output_format, named)


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


def plain_reader(command: Command, limit: int) -> Reading:
    """Read a result unchanged: its typed columns, or the lines of a text output in the column `line`."""
    return unchanged(command.result(), limit)


def unchanged(result: Result, limit: int) -> Reading:
    """Read a result as a DataFrame; as itself if that would have more than `limit` bytes (0: no limit)."""
    return Reading(result if is_larger(result, limit) else result.to_pandas(), result)


def is_larger(result: Result, limit: int) -> bool:
    """Return whether pandas would hold a result in more than `limit` bytes (0: no limit)."""
    stored = result.nbytes
    if not limit or stored is None or stored * _MOST_GROWTH <= limit:
        return False
    return (result.pandas_nbytes() or 0) > limit


def dump_reader(wanted: str) -> Reader:
    """Return the reader of a DUMP of a Pig command, by its alias or number."""
    return lambda command, limit: unchanged(command.dump(wanted), limit)


def sub_reader(number: int | None, output_format: str = LINES, types: str | None = None) -> Reader:
    """Return the reader of a composite: a sub-command's result, counted from 1, or the last one with rows."""
    named = named_types(types, output_format)

    def read(command: Command, limit: int) -> Reading:
        result = command.sub_result(number)
        if output_format == LINES:
            return unchanged(result, limit)
        return _in_format(command, result, limit, output_format, named)

    return read


def _in_format(command: Command, result: Result, limit: int, output_format: str, types: Types) -> Reading:
    if is_larger(result, limit):
        return Reading(result, result)
    try:
        return Reading(parsed_frame(result.text(), output_format, types, result.dtypes))
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
