"""What a job leaves in its folder, as tests look at it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.sql_tokens import Dialect


@dataclass
class Answer:
    """How a query ended."""

    code: int
    summary: dict[str, Any] | None
    error: dict[str, Any] | None
    table: pa.Table | None
    log: str

    @property
    def message(self) -> str:
        return (self.error or self.summary or {})["message"]

    @property
    def failure(self) -> dict[str, Any]:
        assert self.error is not None
        return self.error["failure"]

    @property
    def found(self) -> pa.Table:
        assert self.table is not None, self.error
        return self.table

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.found.to_pylist()

    @property
    def types(self) -> dict[str, str]:
        return {field.name: str(field.type) for field in self.found.schema}


Query = Callable[..., Answer]


def read_json(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text()) if path.exists() else None


def read_table(path: Path) -> pa.Table | None:
    if not path.exists():
        return None
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as reader:
        return reader.read_all()


def sqlite_connection(file: Path) -> Connection:
    return Connection("flights", "sqlite", EngineName.SQLITE, Dialect.SQLITE, file.name, str(file))
