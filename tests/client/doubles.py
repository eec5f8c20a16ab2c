"""A service without a network, for the tests of the client alone; the whole path is tested in tests/integration."""

from __future__ import annotations

import asyncio
import base64
import inspect
import io
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pyarrow as pa

from svc_jupyter.api import paths
from svc_jupyter.api.states import STATUS_FILTERS
from svc_jupyter.client import AsyncClient, AsyncCommand, AsyncResult

BASE_URL = "http://service.test"
TOKEN = "token-of-reader-0123456789"
JSON = {"Content-Type": "application/json"}
Handler = Callable[[httpx.Request], httpx.Response]


def error(status: int, message: str, **headers: str) -> httpx.Response:
    body = {"error": {"error_code": status, "error_message": message}}
    return httpx.Response(status, json=body, headers={"X-Trace-Id": "trace-1", **headers})


def arrow_bytes(table: pa.Table, rows_per_batch: int = 1000) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return sink.getvalue()


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


@dataclass
class CommandDouble:
    """A command and what becomes of it: each look at it takes the next of `statuses`, the last one stays."""

    record: dict[str, Any]
    statuses: deque[str]
    results: str | None = ""
    locations: list[str] | None = None
    table: pa.Table | None = None
    log: bytes = b""
    message: str | None = None
    events: deque[Handler] = field(default_factory=deque)
    ahead: deque[Handler] = field(default_factory=deque)
    """What those get who ask for the rows before the end; without it that they are not done, as older services say."""

    def look(self) -> str:
        status = self.statuses[0]
        if len(self.statuses) > 1:
            self.statuses.popleft()
        return self.see(status)

    def see(self, status: str) -> str:
        self.record["status"] = status
        if self.ended:
            self.record["progress"] = 100 if status == "done" else 0
            self.record["end_time"] = 1_700_000_002
            if "message" in self.record:
                self.record["message"] = self.message
                self.record["result_rows"] = None if self.table is None else self.table.num_rows
                self.record["result_bytes"] = None if self.table is None else len(arrow_bytes(self.table))
        return status

    @property
    def ended(self) -> bool:
        status = STATUS_FILTERS.get(self.record["status"])
        return status is not None and status.is_final


class ServiceDouble:
    """Answers as the contract says; `extended` with our extensions, else as a bare service."""

    def __init__(self, *, extended: bool) -> None:
        self.extended = extended
        self.commands: dict[int, CommandDouble] = {}
        self.taps: dict[int, dict[str, Any]] = {}
        self.requests: list[httpx.Request] = []
        self.next_answers: deque[httpx.Response | Exception | None] = deque()
        """What the next calls get instead of an answer; None lets one through."""
        self.prepare: Callable[[CommandDouble], None] = lambda command: None
        self.by_key: dict[str, int] = {}
        self.ignores_wait = False

    # What tests look at and set up.

    @property
    def calls(self) -> list[str]:
        return [f"{request.method} {request.url.raw_path.decode()}" for request in self.requests]

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.answer)

    def add(self, command_type: str = "ShellCommand", *statuses: str, **fields: Any) -> CommandDouble:
        number = len(self.commands) + 1
        record: dict[str, Any] = {
            "id": number,
            "path": f"/tmp/2026-11-21/1/{number}",
            "status": "waiting",
            "created_at": "2026-11-21T09:00:00Z",
            "submit_time": 1_700_000_000,
            "start_time": None,
            "end_time": None,
            "command_type": command_type,
            "progress": 0,
            "qlog": None,
            "account_id": 1,
            "user_id": 1,
            "meta_data": {
                "results_resource": f"commands/{number}/results",
                "logs_resource": f"commands/{number}/logs",
            },
            "command": {},
        }
        if self.extended:
            record |= {"throttled": False, "attempts": [], "message": None, "result_rows": None}
        command = CommandDouble(record | fields, deque(statuses or ("done",)))
        self.commands[number] = command
        return command

    # The service itself.

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.next_answers and (instead := self.next_answers.popleft()) is not None:
            if isinstance(instead, Exception):
                raise instead
            return instead
        if request.headers.get("X-AUTH-TOKEN") != TOKEN:
            return error(401, "the token is missing or wrong")
        path = request.url.path.removeprefix("/api/v1.2/").rstrip("/")
        resource, *rest = path.split("/")
        handler = {"commands": self._commands, "db_taps": self._taps}.get(resource)
        return handler(request, rest) if handler else error(404, f"no such resource {resource}")

    def _commands(self, request: httpx.Request, rest: list[str]) -> httpx.Response:
        if not rest:
            return self._submit(request) if request.method == "POST" else self._page(request, "commands")
        command = self.commands.get(int(rest[0]))
        if command is None:
            return error(404, f"there is no command {rest[0]}")
        part = rest[1] if len(rest) > 1 else "record"
        handler = getattr(self, f"_{part}", None)
        return handler(request, command) if handler else error(404, f"no such resource {part}")

    def _submit(self, request: httpx.Request) -> httpx.Response:
        key = request.headers.get("Idempotency-Key", "")
        if self.extended and key in self.by_key:
            return httpx.Response(200, json=self.commands[self.by_key[key]].record)
        body = json.loads(request.content)
        if body["command_type"] == "NoSuchCommand":
            return error(422, "NoSuchCommand could not be created: unknown command_type")
        command = self.add(body["command_type"])
        command.record |= {name: body[name] for name in ("name", "label", "timeout") if name in body}
        command.record["command"] = body
        self.by_key[key] = command.record["id"]
        self.prepare(command)
        if self.extended and not self.ignores_wait and "wait" in request.url.params:
            self._hold(request, command)
            command.look()
            if "arrow" in request.url.params and command.table is not None:
                rows = base64.b64encode(arrow_bytes(command.table)).decode()
                return httpx.Response(200, json={**command.record, "arrow": rows})
        return httpx.Response(200, json=command.record)

    def _record(self, request: httpx.Request, command: CommandDouble) -> httpx.Response:
        if request.method == "PUT":
            succeeded = not command.ended
            if succeeded:
                command.statuses = deque(["cancelled"])
            return httpx.Response(200, json={"kill_succeeded": succeeded, "result": "done" if succeeded else "ended"})
        self._hold(request, command)
        command.look()
        return httpx.Response(200, json=command.record)

    def _hold(self, request: httpx.Request, command: CommandDouble) -> None:
        """Let the time pass that the service was asked to hold its answer: the command goes on to its end."""
        if self.extended and not self.ignores_wait and "wait" in request.url.params:
            while len(command.statuses) > 1:
                command.look()

    def _status_with_results(self, request: httpx.Request, command: CommandDouble) -> httpx.Response:
        self._hold(request, command)
        status = command.look()
        answer = {"id": command.record["id"], "status": status, "progress": command.record["progress"]}
        if self.extended:
            answer["message"] = command.record["message"]
        if command.ended:
            answer |= {"error": None if status == "done" else command.message or status, "path": "/tmp"}
            answer |= self._inline(command)
        return httpx.Response(200, json=answer)

    def _inline(self, command: CommandDouble) -> dict[str, Any]:
        if command.locations:
            return {"inline": False, "result_location": command.locations}
        return {"inline": True, "results": command.results}

    def _results(self, request: httpx.Request, command: CommandDouble) -> httpx.Response:
        if "follow" in request.url.params and command.ahead:
            return command.ahead.popleft()(request)
        if command.record["status"] != "done":
            return error(422, f"command {command.record['id']} is not done ({command.record['status']})")
        if self.extended and command.table is not None and request.headers["Accept"] == paths.ARROW_STREAM:
            return httpx.Response(200, content=arrow_bytes(command.table), headers={"Content-Type": paths.ARROW_STREAM})
        if self.extended and request.headers["Accept"] == paths.CSV:
            return httpx.Response(200, content=b"a,b\r\n1,x\r\n", headers={"Content-Type": paths.CSV})
        return httpx.Response(200, json=self._inline(command))

    def _logs(self, request: httpx.Request, command: CommandDouble) -> httpx.Response:
        start = int(request.url.params.get("err_file_processed", 0))
        headers = {"Content-Type": "text/plain", "err_length": str(len(command.log)), "tmp_length": "0"}
        return httpx.Response(200, content=command.log[start:], headers=headers)

    def _events(self, request: httpx.Request, command: CommandDouble) -> httpx.Response:
        if not self.extended or not command.events:
            return error(404, "no such resource events")
        return command.events.popleft()(request)

    def _page(self, request: httpx.Request, plural: str) -> httpx.Response:
        query = dict(parse_qsl(request.url.query.decode()))
        page, per_page = int(query["page"]), min(int(query["per_page"]), 100)
        everything = {
            "commands": [command.record for command in self.commands.values()],
            "db_taps": list(self.taps.values()),
        }[plural][::-1]
        shown = everything[(page - 1) * per_page : page * per_page]
        following = page + 1 if page * per_page < len(everything) else None
        info = {"page": page, "per_page": per_page, "next_page": following, "previous_page": page - 1 or None}
        return httpx.Response(200, json={plural: shown, "paging_info": info})

    def _taps(self, request: httpx.Request, rest: list[str]) -> httpx.Response:
        if not rest and request.method == "GET":
            return self._page(request, "db_taps")
        if not rest:
            return httpx.Response(200, json=self.add_tap(**json.loads(request.content)))
        tap = self.taps.get(int(rest[0]))
        if tap is None:
            return error(404, f"there is no DB tap {rest[0]}")
        if rest[1:] == ["tables"]:
            return httpx.Response(200, json={"tables": [{"name": "flights", "schema_name": "main", "type": "table"}]})
        if request.method == "DELETE":
            del self.taps[tap["id"]]
            return httpx.Response(200, json={"status": "deleted", "id": tap["id"]})
        if request.method == "PUT":
            tap |= {name: value for name, value in json.loads(request.content).items() if name != "db_passwd"}
        return httpx.Response(200, json=tap)

    def add_tap(self, name: str, db_type: str = "sqlite", **fields: Any) -> dict[str, Any]:
        number = len(self.taps) + 1
        fields.pop("db_passwd", None)
        about = {"account_id": 1, "user_id": 1, "created_at": "2026-11-21T09:00:00Z", "active": True}
        self.taps[number] = {"id": number, "name": name, "db_type": db_type, **about, **fields}
        return self.taps[number]


class Blocking:
    """An AsyncClient, or anything of it, used as if it blocked: so one test speaks for both clients."""

    def __init__(self, runner: asyncio.Runner, target: Any) -> None:
        self._runner = runner
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return self._plain(getattr(self._target, name))

    def __repr__(self) -> str:
        return repr(self._target)

    def _plain(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            return self._plain(self._runner.run(value))
        if hasattr(value, "__anext__"):
            return self._iterate(value)
        if inspect.ismethod(value):
            return lambda *args, **options: self._plain(value(*args, **options))
        if isinstance(value, AsyncClient | AsyncCommand | AsyncResult) or hasattr(value, "_flows"):
            return Blocking(self._runner, value)
        return value

    def _iterate(self, values: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> list[Any]:
            try:
                return [await anext(values)]
            except StopAsyncIteration:
                return []

        while item := self._runner.run(following()):
            yield self._plain(item[0])
