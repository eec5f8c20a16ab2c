"""Small files that a reader sees whole or not at all."""

from __future__ import annotations

import json
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
