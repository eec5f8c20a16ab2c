"""Small files that a reader sees whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str) -> None:
    """Write a file beside, and put it in its place."""
    part = path.with_name(f"{path.name}.draft")
    part.write_text(text, "utf-8")
    part.replace(path)


def write_json(path: Path, value: Mapping[str, Any] | list[Any]) -> None:
    """As `write_text`, of a value."""
    write_text(path, json.dumps(value))


def claim(path: Path) -> bool:
    """Make an empty file; return False where it was there. That a full disk takes none is for others to find out."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True
