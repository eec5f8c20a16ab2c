"""A look at the health of a cluster: what the record shows, and the numbers that are kept for plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a cluster.

    `metrics` is the health record's without `captured_at`. `values` are numbers by the
    names of `metrics.METRICS`; what could not be read is not in it.
    """

    metrics: Mapping[str, Any]
    values: Mapping[str, float] = field(default_factory=dict)
