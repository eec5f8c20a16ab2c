"""Numbers of bytes as text, in one form for the cells, the e-mails and the service's messages."""

from __future__ import annotations


def readable_size(size: int) -> str:
    """Return a number of bytes in decimal units, as in `4.5 MB`."""
    if size < 1000:
        return f"{size} bytes"
    number = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        number /= 1000
        if number < 999.95 or unit == "TB":
            break
    return f"{number:.1f} {unit}"
