"""Explains a Hadoop program's failure caused by a location that it has no client for."""

from __future__ import annotations

import re
from typing import Final

_MISSING: Final = re.compile(
    r"No FileSystem for scheme[: ]+\"?(?P<scheme>\w+)\"?"
    r"|Class org\.apache\.hadoop\.fs\.(?P<client>gs|s3a|azurebfs|adl)\.[\w.$]+ not found"
)
_SCHEMES: Final = {"azurebfs": "abfss", "s3a": "s3"}
_S3: Final = frozenset({"s3", "s3a", "s3n"})


def unopened_scheme(message: str) -> str | None:
    """Return the scheme of the location that could not be opened; None for any other failure."""
    found = _MISSING.search(message)
    if found is None:
        return None
    name = found["scheme"] or found["client"]
    return _SCHEMES.get(name, name)


def explained(message: str) -> str:
    """Return the failure with what to do if its cause is such a location, or else unchanged."""
    scheme = unopened_scheme(message)
    if scheme is None:
        return message
    if scheme in _S3:
        advice = "it opens only where the account's storage is an S3 store (PUT account/storage)"
    else:
        advice = (
            "Pig, Hive and Hadoop's programs open file:, hdfs: and, where the account's storage is an S3 store, s3: "
            "locations: copy the data to one of these first"
        )
    return f"{message}\n{scheme}: locations are not opened here; {advice}"
