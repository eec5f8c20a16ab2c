"""Contestants take turns, so that other load on the machine affects them equally.

The order changes from round to round, identically in every run: the contestant after a heavy one finds cold caches.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SEED = 1

Measure = Callable[[], float]
"""Runs once and returns the measurement: seconds, a rate, bytes."""


@dataclass(frozen=True)
class Spread:
    """The distribution of some values."""

    least: float
    median: float
    p95: float
    most: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Return the distribution of one or more values."""
        p95 = statistics.quantiles(values, n=20, method="inclusive")[18] if len(values) > 1 else values[0]
        return cls(min(values), statistics.median(values), p95, max(values))


@dataclass(frozen=True)
class Results:
    """The measurements of each contestant; the n-th values of all belong to the same round."""

    values: Mapping[str, list[float]]

    def spread(self, name: str) -> Spread:
        """Return the distribution of a contestant's values."""
        return Spread.of(self.values[name])

    def ratios(self, name: str, reference: str) -> Spread:
        """Return the distribution of a contestant's values divided by the reference's of the same round."""
        pairs = zip(self.values[name], self.values[reference], strict=True)
        return Spread.of([value / other for value, other in pairs])


def compete(contestants: Mapping[str, Measure], rounds: int, *, warm_up: int = 1) -> Results:
    """Let each contestant measure once a round; the rounds of the warm-up do not count."""
    order = random.Random(_SEED)
    values: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(-warm_up, rounds):
        for name in order.sample(list(contestants), len(contestants)):
            value = contestants[name]()
            if number >= 0:
                values[name].append(value)
        _tell_round(number + 1, rounds)
    return Results(values)


def _tell_round(number: int, rounds: int) -> None:
    """Show the progress on a terminal; a file gets only the tables."""
    if sys.stderr.isatty():
        text = f"round {max(number, 0)} of {rounds}"
        sys.stderr.write(f"\r{text if number < rounds else ' ' * len(text)}\r")
        sys.stderr.flush()
