"""Values of the forms in the cells: what `%%forms` gives and what a front end's fields give; the later one counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Forms:
    """The values by the forms' names."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}
        self._passwords: frozenset[str] = frozenset()
        self._typed: dict[str, str] = {}

    def type(self, values: Mapping[str, str]) -> None:
        """Take the values of a cell with `%%forms`."""
        self._values |= values
        self._typed |= values

    def fill(self, fields: Mapping[str, Any], passwords: Iterable[str]) -> None:
        """Take the values of a front end's fields.

        A field that still has the value that it had does not undo what a cell has set since.
        """
        self._values |= {name: value for name, value in fields.items() if self._fields.get(name) != value}
        self._fields = dict(fields)
        self._passwords = frozenset(passwords)

    def of(self, code: str) -> dict[str, Any]:
        """Return the values for a cell; a password only where the cell names it: each cell is kept as a command."""
        return {name: value for name, value in self._values.items() if name not in self._passwords or name in code}

    def shown(self) -> dict[str, Any]:
        """Return the values without passwords."""
        return {name: value for name, value in self._values.items() if name not in self._passwords}

    def newly_typed(self) -> dict[str, str]:
        """Return what cells have set since the last call, for the front end's fields."""
        typed, self._typed = self._typed, {}
        return {name: value for name, value in typed.items() if name not in self._passwords}
