"""What is wrong with the service's settings, by the names of their variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


def faults(error: ValidationError) -> Iterator[tuple[str, str]]:
    """Yield the variable of each wrong setting, as `SVC_PORT`, and what is wrong with it."""
    for item in error.errors():
        yield f"SVC_{'_'.join(map(str, item['loc'])).upper()}", item["msg"]


def wrong_settings(error: ValidationError) -> str:
    """Return all faults in one line."""
    return f"wrong settings: {', '.join(f'{name}: {message}' for name, message in faults(error))}"
