"""What can be read from a script before Pig parses it: how many statements run something, and what it registers.

Only Pig understands a script; this looks only at the beginnings of statements, outside comments and string literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_SKIPPED: Final = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'", re.DOTALL)
_RUNNING: Final = re.compile(r"(?:^|[;{])\s*(?:dump|store)\b", re.IGNORECASE)
_REGISTERED: Final = re.compile(
    r"^\s*register\s+(?:'(?P<quoted>(?:\\.|[^'\\])*)'|(?P<bare>[^\s;']+))", re.IGNORECASE | re.MULTILINE
)
_COMMENT: Final = re.compile(r"(?P<text>'(?:\\.|[^'\\])*')|--[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER: Final = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<bare>[A-Za-z_]\w*))")


def runs(script: str) -> int:
    """Return the number of DUMP and STORE statements, at least 1."""
    return max(1, len(_RUNNING.findall(_SKIPPED.sub(" '' ", script))))


def registered(script: str, parameters: Mapping[str, str]) -> Iterator[str]:
    """Yield the locations that REGISTER names, with parameters replaced."""
    for match in _REGISTERED.finditer(_COMMENT.sub(_without_comment, script)):
        yield with_parameters(match["quoted"] if match["quoted"] is not None else match["bare"], parameters)


def with_parameters(text: str, parameters: Mapping[str, str]) -> str:
    """Return a text with the given parameters replaced; others stay, and Pig reports them."""
    return _PARAMETER.sub(lambda match: parameters.get(match["braced"] or match["bare"], match[0]), text)


def _without_comment(match: re.Match[str]) -> str:
    return match["text"] or " "
