"""Loading libraries without what they would load at great cost and do not need here."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType


class Without(importlib.abc.MetaPathFinder):
    """Hides an installed module, first in `sys.meta_path`, as if it were not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Raise `ModuleNotFoundError` for the module; leave others to the next finder."""
        if name == self._name:
            raise ModuleNotFoundError(f"this process does without {name}", name=name)
        return None


@contextmanager
def without_the_grammar_of_addresses() -> Iterator[None]:
    """Load nbformat, or what loads it, within.

    jsonschema, with which nbformat validates, loads rfc3987_syntax for the text format `iri` if it is installed. No
    schema of notebooks has that, and its grammar takes 20 MB and 1.3 s of processor time; without it nbformat loads in
    0.05 s.
    """
    without = Without("rfc3987_syntax")
    sys.meta_path.insert(0, without)
    try:
        yield
    finally:
        sys.meta_path.remove(without)
