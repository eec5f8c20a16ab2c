"""The options of the magics: shared options, parsing of lines, and error messages."""

from __future__ import annotations

import argparse
import datetime
import decimal
import difflib
import json
import keyword
import pathlib
import shlex
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from svc_jupyter.magics.arguments.decorators import Decorator, argument
from svc_jupyter.magics.display.errors import SvcUsageError

MagicMethod: TypeAlias = Callable[..., Any]
_BACKSLASH = "\\"
VALUES_WITH_ONE_TEXT = (str, int, float, decimal.Decimal, datetime.date, pathlib.PurePath, uuid.UUID)
"""Types of notebook values with one obvious text (a bool is an int, a datetime is a date)."""

_MACRO_OPTION = argument(
    "--macro",
    metavar="NAME=EXPR",
    action="append",
    default=[],
    help="Macro: $NAME$ in the text becomes the value of the JavaScript expression. Repeatable.",
)
_MACRO_OPTIONS = (
    _MACRO_OPTION,
    argument(
        "--param",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="$NAME$ in the text becomes VALUE, unchanged; in SQL, --bind takes any value. Repeatable.",
    ),
    argument(
        "--var",
        metavar="NAME",
        action="append",
        default=[],
        help="$NAME$ in the text becomes the value of the variable NAME; in SQL, --bind takes any value. Repeatable.",
    ),
)
_COMMON_OPTIONS = (
    argument("--label", metavar="LABEL", help="Label of the cluster of the command."),
    argument("--name", metavar="NAME", help="Name of the command in the history."),
    argument("--tags", metavar="A,B", help="Comma-separated tags of the command."),
    argument("--timeout", metavar="SECONDS", type=int, help="Seconds after which the service ends the command."),
    argument("--retry", metavar="N", type=int, choices=range(4), help="Number of retries after a failure: 0 to 3."),
    argument("--retry-delay", metavar="MINUTES", type=int, help="Minutes between two attempts."),
    argument("--pool", metavar="POOL", help="Scheduler pool of the cluster."),
    argument("--notify", action="store_true", help="Send an e-mail when the command has ended."),
)
_SUBMISSION_OPTIONS = (*_COMMON_OPTIONS, *_MACRO_OPTIONS)
_OUTPUT_OPTIONS = (
    argument("-o", "--out", metavar="NAME", help="Assign the DataFrame (with --no-wait: the handle) to NAME."),
    argument("-n", "--rows", metavar="ROWS", type=int, help="Rows to show; the DataFrame has all rows."),
)
_LOAD_ALL = argument("--load-all", action="store_true", help="Load the result, also if it is above load_limit.")
_RUN_OPTIONS = (
    argument("--no-wait", action="store_true", help="Submit and return a handle at once."),
    argument("--quiet", action="store_true", help="Show only errors; -o NAME receives the DataFrame."),
    _LOAD_ALL,
)


def submission_options(magic: MagicMethod) -> MagicMethod:
    """Add the options of every submission to a magic."""
    return _with(_SUBMISSION_OPTIONS + _OUTPUT_OPTIONS + _RUN_OPTIONS, magic)


def submission_options_with(*own: Decorator[Any]) -> Decorator[MagicMethod]:
    """Return the same decorator for a magic with its own `-o` and variable options."""
    options = (*_COMMON_OPTIONS, _MACRO_OPTION, *own, *_OUTPUT_OPTIONS[1:], *_RUN_OPTIONS)
    return lambda magic: _with(options, magic)


def several_outputs(what: str) -> Decorator[Any]:
    """Return the `-o` of a magic with several results; `what` describes the assigned value."""
    text = f"{what} Repeatable. With --no-wait NAME is the handle."
    return argument("-o", "--out", dest="outs", metavar="NAME", action="append", default=[], help=text)


def submission_options_assigning(what: str) -> Decorator[MagicMethod]:
    """Return the same decorator for a magic whose `-o` assigns something other than the DataFrame."""
    assigns = argument("-o", "--out", metavar="NAME", help=f"Assign {what} (with --no-wait: the handle) to NAME.")
    options = (*_SUBMISSION_OPTIONS, assigns, *_OUTPUT_OPTIONS[1:], *_RUN_OPTIONS)
    return lambda magic: _with(options, magic)


def load_option(magic: MagicMethod) -> MagicMethod:
    """Add `--load-all` to a magic that reads the result of a command that there is."""
    return _with((_LOAD_ALL,), magic)


def macro_options(magic: MagicMethod) -> MagicMethod:
    """Add the options for macro values to a magic."""
    return _with(_MACRO_OPTIONS, magic)


def out_option(what: str) -> Decorator[Any]:
    """Return the option that assigns an action's return value."""
    return argument("-o", "--out", metavar="NAME", help=f"Assign {what} to NAME.")


def output_options(magic: MagicMethod) -> MagicMethod:
    """Add `-o` and `-n` to a magic that shows a DataFrame."""
    return _with((out_option("what it returns"), *_OUTPUT_OPTIONS[1:]), magic)


def _with(options: tuple[Decorator[Any], ...], magic: MagicMethod) -> MagicMethod:
    for option in reversed(options):
        magic = option(magic)
    return magic


def parser_of(magic: MagicMethod) -> MagicArgumentParser:
    """Return the parser that `magic_arguments` built for a magic; abbreviated options are not accepted."""
    parser: MagicArgumentParser = magic.parser  # type: ignore[attr-defined]
    parser.allow_abbrev = False
    return parser


def option_names(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the options of a parser, keyed by spelling."""
    return {spelling: action for action in parser._actions for spelling in action.option_strings}


def parse(magic: MagicMethod, line: str) -> argparse.Namespace:
    """Return the values of a magic's line, split as a shell does.

    Raises SvcUsageError with the position and the nearest option.
    """
    parser = parser_of(magic)
    asking = f"%{parser.prog} --help" if " " in parser.prog else f"{parser.prog}?"
    help_hint = f"\n  {asking} lists the options."
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SvcUsageError(f"{parser.prog}: {str(error).lower()} in: {line.strip()}{help_hint}") from None
    try:
        values, unknown = parser.parse_known_args(words)
    except UsageError as error:
        raise SvcUsageError(f"{parser.prog}: {error}{help_hint}") from None
    if unknown:
        raise SvcUsageError(f"{parser.prog}: {_unknown(unknown[0], parser)}{help_hint}")
    check_output_name(getattr(values, "out", None), parser.prog)
    if (getattr(values, "rows", None) or 0) < 0:
        raise SvcUsageError(f"{parser.prog}: -n takes a number of rows, 0 or more, not {values.rows}")
    return values


def continued(line: str, cell: str | None) -> tuple[str, str | None]:
    """Return the whole line of a cell magic and the rest of its cell: a trailing backslash continues the line.

    IPython passes the first line as the magic's line, and everything below it as the cell.
    """
    while cell is not None and line.rstrip().endswith(_BACKSLASH):
        following, _, cell = cell.partition("\n")
        line = f"{line.rstrip().removesuffix(_BACKSLASH)} {following.strip()}"
    return line, cell


def nearest(word: str, known: list[str]) -> str:
    """Return ` Did you mean X?` for the nearest known word, or an empty text."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""


def _unknown(word: str, parser: argparse.ArgumentParser) -> str:
    if not word.startswith("-"):
        return f"{word!r} belongs to no option. Quote values that hold spaces."
    spelling = word.partition("=")[0]
    return f"unknown option {spelling}.{nearest(spelling, list(option_names(parser)))}"


def check_output_name(name: str | None, prog: str) -> None:
    """Raise SvcUsageError unless the name is a valid variable name."""
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise SvcUsageError(f"{prog}: -o takes the name of a variable, not {name!r}")


def submission_fields(
    values: argparse.Namespace, variables: Mapping[str, Any], default_label: str | None
) -> dict[str, Any]:
    """Return the common parameters of a submission that were given.

    `variables` is the notebook's namespace, used only for `--var`.
    """
    fields = {
        "label": values.label or default_label or None,
        "name": values.name,
        "tags": tags_text(values.tags),
        "timeout": values.timeout,
        "retry": values.retry,
        "retry_delay": values.retry_delay,
        "pool": values.pool,
        "can_notify": values.notify or None,
        "macros": macros(values, variables) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def tags_text(text: str | None) -> str | None:
    """Return tags in wire form `[a,b]`; the service validates them."""
    if text is None:
        return None
    return text if text.startswith("[") else f"[{text}]"


def macros(values: argparse.Namespace, variables: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the macros of a submission: values first, so that expressions can use them.

    A value is sent as a quoted string expression, so its content is never evaluated.
    """
    given = [{name: json.dumps(text)} for name, text in pasted(values, variables)]
    given += [{name: expression} for name, expression in (pair(text, "--macro") for text in values.macro)]
    names = [name for macro in given for name in macro]
    for name in names:
        if names.count(name) > 1:
            raise SvcUsageError(f"${name}$ is given twice among --param, --var and --macro")
    return given


def pasted(values: argparse.Namespace, variables: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the names and texts of `--param` and `--var`, which become part of a command's text as they are."""
    params, names_of_variables = getattr(values, "param", []), getattr(values, "var", [])  # Pig has its own parameters
    given = [pair(text, "--param") for text in params]
    return [*given, *((name, variable_text(name, variables)) for name in names_of_variables)]


def pair(text: str, option: str) -> tuple[str, str]:
    """Return the name and the value of an option `NAME=VALUE`. Raises SvcUsageError."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not (name.isascii() and name.isidentifier()):
        raise SvcUsageError(f"{option} takes NAME=VALUE with a name of letters, digits and _, not {text!r}")
    return name, value


def variable_text(name: str, variables: Mapping[str, Any]) -> str:
    """Return the text of a notebook variable's value.

    Raises SvcUsageError when the variable does not exist or its value has no obvious text (a DataFrame, a list).
    """
    if not (name.isascii() and name.isidentifier()):
        raise SvcUsageError(f"--var takes the name of a variable, not {name!r}")
    if name not in variables:
        known = [variable for variable in variables if not variable.startswith("_")]
        raise SvcUsageError(f"--var {name}: the notebook has no variable {name}.{nearest(name, known)}")
    value = variables[name]
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # a NumPy scalar
    if not isinstance(value, VALUES_WITH_ONE_TEXT):
        raise SvcUsageError(
            f"--var {name}: a {type(value).__name__} has no single text. Build the text first and give it a name."
        )
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
