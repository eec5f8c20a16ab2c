"""Which columns of texts are numbers: only those whose every value is a plain number that keeps its digits.

`01234`, `+1`, `1e5` and `NA` are texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

_WHOLE: Final = re.compile("0|-?[1-9][0-9]{0,18}")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)?\.[0-9]+")
_INT64: Final = range(-(2**63), 2**63)
EXACT_IN_FLOATS: Final = range(-(2**53), 2**53 + 1)
"""The integers that a float holds."""


def numbers_of(texts: Sequence[str | None]) -> Sequence[int | None] | Sequence[float | None] | None:
    """Return the integers of 64 bits or the floats that all the texts are, with None for what is missing.

    None where one of them is something else, or where all are missing.
    """
    there = [text for text in texts if text is not None]
    whole = [int(text) for text in there if _WHOLE.fullmatch(text)]
    if not there or not all(number in _INT64 for number in whole):
        return None
    if len(whole) == len(there):
        numbers = iter(whole)
        return [None if text is None else next(numbers) for text in texts]
    are_numbers = all(_DECIMAL.fullmatch(text) or _WHOLE.fullmatch(text) for text in there)
    if not are_numbers or not all(number in EXACT_IN_FLOATS for number in whole):
        return None
    floats = [None if text is None else float(text) for text in texts]
    return None if math.inf in floats or -math.inf in floats else floats
