"""HiveServer2's failures in the engine's words, without the text that Java adds around them."""

from __future__ import annotations

import re
from typing import Final

from svc_jupyter.service.db_taps.failures import QueryFailure, offset_of

_STACK: Final = re.compile(r"\n\s*at [\w.$]+\(|\nCaused by: |\nDriver stacktrace:")
_WRAPPER: Final = re.compile(r"^(?:org\.apache\.hive\.service\.cli\.HiveSQLException: )?(?:Error running query: )?")
_CLASS: Final = re.compile(r"^(?:\[[\w.]+\] )?(?:(?:[a-z]\w*\.)+[A-Z][\w$]*: ?\s*)+(?=\S)")
_PLACE: Final = re.compile(r"\s*(?:\(line (\d+), pos (\d+)\)|; line (\d+) pos (\d+);?)")
_SQL: Final = re.compile(r"\n+== SQL.*?==\n", re.DOTALL)
_TASK: Final = re.compile(r"^Job aborted due to stage failure: .*?(?:\): |failure: )(?=[\w.]+\.[A-Z])", re.DOTALL)


def failure_of(text: str, statement: str) -> QueryFailure:
    """Return the failure of a statement, with its position where the server reports one."""
    message = _WRAPPER.sub("", _STACK.split(text.strip(), maxsplit=1)[0])
    message = _TASK.sub("", _CLASS.sub("", message))
    message = _CLASS.sub("", message)
    position = None
    if (place := _PLACE.search(message)) is not None:
        line, column = (int(number) for number in place.groups() if number is not None)
        position = offset_of(statement, line, column)
        message = message[: place.start()]
    message = _SQL.split(message)[0].strip()
    return QueryFailure(message or text.strip()[:500], position=position, shows_column=True)
