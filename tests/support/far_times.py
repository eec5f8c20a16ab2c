"""Dates and times that Python does not have, in a query of Spark SQL, and what a result has for them.

An instant ends in `Z`; Hive's `timestamp` comes without a zone.
"""

from __future__ import annotations

from datetime import date
from typing import Any

QUERY = """
SELECT
  IF(id = 0, date'2020-01-31', date'+12020-01-31') AS d,
  timestamp'-0043-03-15 01:02:03.5' AS t,
  timestamp_ntz'+12020-01-31 01:02:03' AS n,
  array(date'+12020-01-31', NULL) AS a,
  map(date'+12020-01-31', timestamp'-0043-03-15 01:02:03.5') AS m,
  named_struct('d', date'-0043-03-15', 'near', date'2020-01-31') AS s,
  map(1, named_struct('a', array(timestamp'+12020-01-31 01:02:03'))) AS deep,
  date'2020-01-31' AS near
FROM range(2) ORDER BY id"""
NOTE = "columns d, t, n, a, m and 2 more are text: not all times are within the years 1 to 9999 and a day's 24 hours"


def rows(zone: str) -> list[dict[str, Any]]:
    """Return the rows of the query."""
    near = date(2020, 1, 31)
    return [
        {
            "d": day,
            "t": f"-0043-03-15T01:02:03.500000{zone}",
            "n": "+12020-01-31T01:02:03",
            "a": ["+12020-01-31", None],
            "m": [("+12020-01-31", f"-0043-03-15T01:02:03.500000{zone}")],
            "s": {"d": "-0043-03-15", "near": near},
            "deep": [(1, {"a": [f"+12020-01-31T01:02:03{zone}"]})],
            "near": near,
        }
        for day in ("2020-01-31", "+12020-01-31")
    ]
