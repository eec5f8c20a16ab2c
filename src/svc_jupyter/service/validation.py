"""What pydantic found wrong, as a sentence for the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

_SHOWN = 5
_OUTER = frozenset({"body", "query", "path", "header"})


def explain(error: ValidationError) -> str:
    """Return which field is wrong and how, without the value (it may be a secret)."""
    return explain_all(error.errors(include_url=False, include_input=False, include_context=False))


def explain_all(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return one text for a list of errors in pydantic's form; the first few are shown."""
    texts = [_explain_one(item) for item in errors[:_SHOWN]]
    if len(errors) > _SHOWN:
        texts.append(f"and {len(errors) - _SHOWN} more")
    return "; ".join(texts)


def _explain_one(item: Mapping[str, Any]) -> str:
    place = [str(part) for part in item["loc"]]
    if len(place) > 1 and place[0] in _OUTER:
        place = place[1:]
    reason = str(item["msg"]).removeprefix("Value error, ")
    where = ".".join(place)
    return f"{where}: {reason}" if where else reason
