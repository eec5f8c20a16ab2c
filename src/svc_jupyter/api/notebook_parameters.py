"""The parameters that a notebook declares: what its cell tagged `parameters` assigns, read and never run.

Python is read by its own parser, the other languages by the lexers of Pygments (https://pygments.org/docs/lexers/).
"""

from __future__ import annotations

import ast
import math
import re
import shlex
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from svc_jupyter.api.text import is_unicode

Argument = str | int | float | bool
"""A value that a notebook run can be given."""
PARAMETERS = "parameters"
"""The tag of the cell with the notebook's default values."""
LANGUAGES = frozenset({"python", "r", "julia", "scala", "bash"})
"""The languages, in lower case, whose notebooks take arguments."""
_PYTHON = "python"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_NAME = 255
_LARGEST_INTEGER = 2**63
_LINE_END = re.compile(r"\r\n|\r|\n")
_OF_IPYTHON = re.compile(r"^\s*[%!?]|\?\s*$|=\s*[%!]")
_MOST_MAGICS = 50
_SHOWN = 200
_MOST_CHARACTERS = 5000
"""Of a cell for the lexers, which take time with the square of a hostile text's length."""
_MOST_OF_PYTHON = 100_000


class Unreadable(ValueError):
    """A cell that its language's parser does not read; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A variable and its default.

    `value` is None where the default is no literal that a run can be given, such as `days + 1`; `code` is the default
    as it is written.
    """

    name: str
    code: str
    value: Argument | None = None

    @property
    def type(self) -> str | None:
        """The type of its values: `str`, `int`, `float` or `bool`; None where the default is no literal."""
        return None if self.value is None else type(self.value).__name__


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def problem_of(item: Any) -> str | None:
    """Return why a value cannot be given to a notebook, None when it can."""
    if isinstance(item, bool):
        return None
    if isinstance(item, str):
        if "\0" in item:
            return "holds a NUL character"
        return None if is_unicode(item) else "holds a character that is not Unicode (a lone surrogate)"
    if isinstance(item, int):
        return None if -_LARGEST_INTEGER <= item < _LARGEST_INTEGER else "does not fit into 64 bits"
    if isinstance(item, float):
        return None if math.isfinite(item) else "must be a finite number"
    return "must be a string, integer, float or boolean"


def parameters_in(notebook: Mapping[str, Any]) -> list[Parameter] | None:
    """Return the parameters of a notebook of format 4; None without a cell of them. Raises `Unreadable`."""
    try:
        cell = next(filter(declares, notebook.get("cells", ())), None)
        if cell is None:
            return None
        source, metadata = "".join(cell.get("source", "")), notebook.get("metadata", {})
        kernel, language = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
        name = str(kernel.get("language") or language.get("name") or _PYTHON)
    except (AttributeError, TypeError):
        raise Unreadable("it is not of a notebook of format 4") from None
    return parameters_of(source, name)


def parameters_of(source: str, language: str) -> list[Parameter]:
    """Return the parameters of a cell, each once, with the default that it has at the cell's end.

    There are none in a language whose notebooks take no arguments, and none that no argument can name. Raises
    `Unreadable`.
    """
    language = language.lower()
    if language not in LANGUAGES:
        return []
    most = _MOST_OF_PYTHON if language == _PYTHON else _MOST_CHARACTERS
    if len(source) > most:
        raise Unreadable(f"it has more than {most:,} characters")
    found = _in_python(source) if language == _PYTHON else _in_tokens(source, language)
    return [each for each in found if is_name(each.name)]


def is_name(text: str) -> bool:
    """Return whether an argument can have this name."""
    return _NAME.fullmatch(text) is not None and len(text) <= _LONGEST_NAME


def declares(cell: Any) -> bool:
    """Return whether a cell is a code cell with the tag. Raises AttributeError and TypeError for what is no cell."""
    tags = cell.get("metadata", {}).get("tags")
    return cell.get("cell_type") == "code" and isinstance(tags, list) and PARAMETERS in tags


def _in_python(source: str) -> list[Parameter]:
    found: dict[str, Parameter] = {}
    try:
        texts = _LINE_END.split(source)
        first = _indent_of(next(filter(str.strip, texts), ""))  # IPython takes it from every line, too
        texts = [text.removeprefix(first) for text in texts]
        lines = [text.encode() for text in texts]
        for statement in _parsed(texts).body:
            assigned = {name: (value, annotation) for name, value, annotation in _assignments(statement)}
            chosen = _chosen_in(statement)
            for name in _bound_in(statement):
                if (name in found or name in chosen) and name not in assigned:
                    found[name] = Parameter(name, _segment(lines, statement))
            for name, (value, annotation) in assigned.items():
                found[name] = Parameter(name, _segment(lines, value), _literal(value, annotation))
    except (RecursionError, MemoryError):
        raise Unreadable("it is nested too deeply") from None
    return list(found.values())


def _parsed(texts: Sequence[str]) -> ast.Module:
    """Return the tree of lines, of which those that only IPython understands do nothing."""
    lines = [*texts]
    for _ in range(_MOST_MAGICS):
        try:
            with warnings.catch_warnings(action="ignore"):
                return ast.parse("\n".join(lines))
        except SyntaxError as error:
            place = (error.lineno or 0) - 1
            if not 0 <= place < len(lines) or not _OF_IPYTHON.search(lines[place]):
                raise Unreadable(f"line {place + 1}: {error.msg}" if place >= 0 else str(error.msg)) from None
            goes_on = lines[place].endswith("\\")
            lines[place] = f"{_indent_of(lines[place])}pass"
            while goes_on and place + 1 < len(lines):
                place += 1
                goes_on = lines[place].endswith("\\")
                lines[place] = ""
        except ValueError as error:  # a NUL character
            raise Unreadable(str(error)) from None
    raise Unreadable(f"it has more than {_MOST_MAGICS} lines of IPython's")


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _segment(lines: Sequence[bytes], node: ast.stmt | ast.expr) -> str:
    """Return the text of a node; `ast.get_source_segment` splits the whole text each time."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    within = [*lines[first:last], lines[last][: node.end_col_offset]]
    within[0] = within[0][node.col_offset :]
    return _in_a_line(b"\n".join(within).decode("utf-8", "replace"))


def _in_a_line(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _assignments(statement: ast.stmt) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """Yield the names that a statement assigns, each with its value and its annotation."""
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value, annotation=annotation):
            yield name, value, annotation
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                for name, part in _paired(target, value):
                    yield name, part, None


def _chosen_in(statement: ast.stmt) -> set[str]:
    """Return the names to which the branches of a statement assign."""
    within = ast.walk(statement) if isinstance(statement, ast.If | ast.Match | ast.Try | ast.With) else ()
    return {name for inner in within if isinstance(inner, ast.stmt) for name, *_ in _assignments(inner)}


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))) if (
            len(targets) == len(values) and not any(isinstance(each, ast.Starred) for each in (*targets, *values))
        ):
            for one, part in zip(targets, values, strict=True):
                yield from _paired(one, part)
        case ((ast.Tuple() | ast.List() | ast.Starred()), _):
            for each in ast.walk(target):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield each.id, value


def _bound_in(node: ast.AST) -> Iterator[str]:
    """Yield the names that code gives a value or takes it from, without those of inner scopes."""
    within: Iterable[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Lambda():
            return
        case ast.comprehension(iter=iterated, ifs=ifs):
            within = (iterated, *ifs)
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
    for each in within:
        yield from _bound_in(each)


def _literal(node: ast.expr, annotation: ast.expr | None) -> Argument | None:
    match node:
        case ast.Constant(value=bool() | str() | int() | float() as value):
            pass
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as number)):
            if isinstance(number, bool):
                return None
            value = -number if isinstance(sign, ast.USub) else number
        case _:
            return None
    if type(value) is int and annotation is not None:
        types = {each.id for each in ast.walk(annotation) if isinstance(each, ast.Name)}
        if "float" in types and not types & {"int", "str", "bool"} and problem_of(value) is None:
            value = float(value)
    return _given(value)


def _given(value: Argument) -> Argument | None:
    """Return a value if a run can be given it."""
    return value if problem_of(value) is None else None


_DECLARATIONS: Mapping[str, frozenset[str]] = {
    "scala": _words("val var lazy final private protected implicit"),
    "julia": _words("const local global"),
    "bash": _words("export readonly local declare typeset"),
}
_CHANGES = re.compile(r"[^=!<>]*[^=!<>:]=|->>?|unset|read|rm|mapfile|readarray")
_FLOATS = re.compile(r"Double|Float")
_ASSIGNS = frozenset({"=", "<-", "<<-"})
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_IN_SINGLE_QUOTES = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:0|[1-9](?:_?\d)*)?(\.\d*)?([eE][+-]?\d+)?([LlfFdD]?)")
_SUFFIXES: Mapping[str, str] = {"r": "L", "scala": "LlfFdD"}
_GROUPS_DIGITS = frozenset({"julia", "scala"})
"""The languages that write 1_000."""
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u(?:\{([0-9A-Fa-f]{1,4})\}|([0-9A-Fa-f]{1,4}))"
    r"|U(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{1,8}))|(.))",
    re.DOTALL,
)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _in_tokens(source: str, language: str) -> list[Parameter]:
    """Return what plain statements assign. What is in a block, or another statement changes, is code."""
    from svc_jupyter.api.notebook_statements import OPERATOR, statements_of  # loaded with the first such cell

    found: dict[str, Parameter] = {}
    for statement, is_in_block in statements_of(source, language):
        signs = (number for number, (kind, text) in enumerate(statement) if kind == OPERATOR and text in _ASSIGNS)
        place = next(signs, len(statement))
        words = [text for _, text in statement[:place] if text.strip()]
        while words[1:] and words[0] in _DECLARATIONS.get(language, ()):
            del words[0]
        name, *annotation = words or [""]
        if place < len(statement) and _NAME.fullmatch(name) and annotation[:1] in ([], [":"], ["::"]):
            value = statement[place + 1 :]
            code = "".join(text for _, text in value).strip()
            literal = None if is_in_block else _value_of(value, code, language)
            if type(literal) is int and _FLOATS.search("".join(annotation)):
                literal = float(literal)
            found[name] = Parameter(name, _in_a_line(code), literal)
        else:
            texts = [text for kind, text in statement if text.strip() and not kind.startswith("Token.Literal")]
            for changed in found.keys() & _changed_by(texts):
                found[changed] = Parameter(changed, _in_a_line("".join(text for _, text in statement)))
    return list(found.values())


def _changed_by(texts: Sequence[str]) -> set[str]:
    """Return names that a statement may give another value, given its texts outside literals."""
    if any(map(_CHANGES.fullmatch, texts)):
        return set(texts)
    before = {name for name, sign in pairwise(texts) if sign in _ASSIGNS}
    return before | {texts[0]} if before else before


def _value_of(value: Sequence[tuple[str, str]], code: str, language: str) -> Argument | None:
    """Return the value of a literal, given its tokens and their text; None for anything else."""
    true, false = ("TRUE", "FALSE") if language == "r" else ("true", "false")
    if code in (true, false):
        return code == true
    if (number := _number(code, language)) is not None:
        return _given(number)
    if language == "bash":
        return _bash_text(value, code)
    if any(kind.endswith(".Interpol") and text.startswith("$") for kind, text in value):
        return None
    if (quoted := _QUOTED.fullmatch(code)) or (language == "r" and (quoted := _IN_SINGLE_QUOTES.fullmatch(code))):
        with suppress(ValueError, OverflowError):  # an escape of no character
            text = _ESCAPE.sub(_meant, quoted[1])
            return _given(text.encode("utf-16", "surrogatepass").decode("utf-16"))
    return None


def _number(code: str, language: str) -> int | float | None:
    match = _NUMBER.fullmatch(code)
    if match is None or not any(map(str.isdigit, code)) or len(code) > _SHOWN:
        return None
    point, exponent, suffix = match.groups()
    digits = code.removesuffix(suffix)
    is_known = (not suffix or suffix in _SUFFIXES.get(language, "")) and ("_" not in code or language in _GROUPS_DIGITS)
    is_float = point or exponent or (suffix in "fFdD" if suffix else language == "r")  # R: 7 is a double, 7L an integer
    if not is_known or (language == "bash" and (is_float or code.startswith("+"))):
        return None
    return float(digits) if is_float else int(digits)


def _bash_text(value: Sequence[tuple[str, str]], code: str) -> str | None:
    """Return what Bash makes of quotes and escapes; None for what it would expand."""
    if any(re.search(_expanded(kind), text) for kind, text in value):
        return None
    with suppress(ValueError):
        words = shlex.split(code)
        return words[0] if len(words) == 1 and problem_of(words[0]) is None else None
    return None


def _expanded(kind: str) -> str:
    """Return a pattern of what has another meaning in a token of this kind, for Bash or for `shlex`."""
    if kind.startswith("Token.Text"):
        return r"[~*?\[{<>]|\\\n"
    if kind.startswith("Token.Literal.String"):
        return r"^\$|\\[$\n]|`" if kind.endswith((".Double", ".Backtick")) else r"^\$"
    return r"[^\w=+-]"


def _meant(match: re.Match[str]) -> str:
    *digits, letter = match.groups()
    if letter is None:
        return chr(int(next(filter(None, digits)), 16))
    if letter == "\n" or (letter.isalnum() and letter not in _ESCAPED):
        raise ValueError("an escape with another meaning in each language")
    return _ESCAPED.get(letter, letter)
