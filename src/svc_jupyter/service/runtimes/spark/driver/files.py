"""Small files that a reader sees whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str) -> None:
    """Write a temporary file, and move it into place."""
    part = path.with_name(f"{path.name}.draft")
    part.write_text(text, "utf-8")
    part.replace(path)


def write_json(path: Path, value: Mapping[str, Any] | list[Any]) -> None:
    """Write a value as JSON, as `write_text` does."""
    write_text(path, json.dumps(value))


def claim(path: Path) -> bool:
    """Create an empty file; return False if it exists. A full disk is not reported here, but by later writes."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True
