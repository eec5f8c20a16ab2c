"""Answers of the service that are valid by the models of `api`: a test says only what differs."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import httpx
import pyarrow as pa
from pydantic import BaseModel

from svc_jupyter.api.account import Account
from svc_jupyter.api.clusters import ClusterNode, ClusterRecord
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.db_taps import DbTap
from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.jupyter_contents import Contents
from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord

CREATED = "2026-11-21T09:00:00Z"
SUBMITTED = 1_763_715_600
_REQUIRED: dict[type[BaseModel], dict[str, Any]] = {
    Account: {
        "id": 1,
        "name": "demo",
        "user_id": 3,
        "email": "reader@example.com",
        "groups": ["system-admin"],
        "features": {"jupyter_notebooks": True},
        "storage_url": "file:///data/storage",
        "concurrent_command_limit": 20,
    },
    ActionRecord: {"nominal_time": "2026-11-21T08:00:00Z", "created_at": "2026-11-21T08:00:00Z"},
    ClusterNode: {"instance_type": "local", "status": "RUNNING"},
    ClusterRecord: {"node_configuration": {"initial_nodes": 2, "max_nodes": 4}},
    CommandRecord: {
        "status": "waiting",
        "created_at": CREATED,
        "submit_time": SUBMITTED,
        "account_id": 1,
        "user_id": 1,
        "command": {},
    },
    Contents: {"size": 5, "writable": True, "created": "2026-01-01T00:00:00Z", "last_modified": CREATED},
    DbTap: {"account_id": 1, "user_id": 1, "created_at": CREATED},
    ScheduleRecord: {
        "status": "RUNNING",
        "command_type": "ShellCommand",
        "command": {"inline": "date"},
        "start_time": "2026-11-22 09:00",
        "frequency": 1,
        "time_unit": "days",
        "time_out": 600,
        "command_timeout": 129600,
        "label": "default",
        "next_materialized_time": "2026-11-22 09:00",
        "user_id": 1,
    },
}
_EXTENSIONS: dict[type[BaseModel], tuple[str, ...]] = {
    ActionRecord: ("message",),
    CommandRecord: (
        *("throttled", "attempts", "message", "retry", "retry_delay", "result_rows", "result_bytes", "outputs"),
        *("parent_id", "child_number", "notebook"),
    ),
    ScheduleRecord: (
        *("has_label", "tags", "notification", "due_by", "longer_than", "description", "last_action", "alerts"),
    ),
}


def record_of(model: type[BaseModel], *, bare: bool = False, **fields: Any) -> dict[str, Any]:
    """Return an answer with these fields, the others as by default; a bare service omits the extensions."""
    record = model.model_validate(_REQUIRED.get(model, {}) | fields).model_dump(mode="json")
    return {name: value for name, value in record.items() if not bare or name not in _EXTENSIONS.get(model, ())}


def command_record(number: int, command_type: str, *, bare: bool = False, **fields: Any) -> dict[str, Any]:
    """Return the record of a new command."""
    parts = {"results_resource": f"commands/{number}/results", "logs_resource": f"commands/{number}/logs"}
    about = {"id": number, "path": f"/tmp/2026-11-21/1/{number}", "command_type": command_type, "meta_data": parts}
    return record_of(CommandRecord, bare=bare, **(about | fields))


def page_of(plural: str, items: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    """Return the page of a list that the query requests, newest first."""
    page, per_page = int(query.get("page", 1)), min(int(query.get("per_page", 10)), 100)
    following = page + 1 if page * per_page < len(items) else None
    info = record_of(PagingInfo, page=page, per_page=per_page, next_page=following, previous_page=page - 1 or None)
    return {plural: items[::-1][(page - 1) * per_page : page * per_page], "paging_info": info}


def arrow_bytes(table: pa.Table, rows_per_batch: int = 1000) -> bytes:
    """Return rows as an Arrow stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return sink.getvalue()


def _field(value: object) -> str:
    return "NULL" if value is None else str(value)


def text_of(table: pa.Table) -> str:
    """Return rows as a service sends them as text: a header, tabs and CRLF."""
    rows = [table.column_names, *(map(_field, row.values()) for row in table.to_pylist())]
    return "".join("\t".join(row) + "\r\n" for row in rows)


def query_log(table: pa.Table, messages: Sequence[str] = ()) -> str:
    """Return the `qlog` of a query with these rows: the types of its columns, and what readers should know."""
    types = {"int64": "BIGINT", "string": "VARCHAR", "double": "DOUBLE"}
    columns = [
        {"ColumnName": field.name, "ColumnType": types.get(str(field.type), str(field.type))} for field in table.schema
    ]
    return json.dumps({"QUERY-SCHEMA": {"-1": columns}, "messages": [*messages]})


class BrokenStream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that breaks off after some pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces
        raise httpx.ReadError("connection reset by peer")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        raise httpx.ReadError("connection reset by peer")
