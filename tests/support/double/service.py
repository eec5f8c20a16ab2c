"""The one double of the service in the tests, with our extensions or without; the whole path is tested with a real one.

Without a network it is the transport of a client (`transport`); in a `with` it serves HTTP at `base_url`.
"""

from __future__ import annotations

import json
import re
from collections import deque
from typing import Any

import httpx
from tests.support.double.clusters import ClusterDouble
from tests.support.double.commands import Commands
from tests.support.double.records import page_of, record_of
from tests.support.double.schedules import ScheduleDouble
from tests.support.http_front import error

from svc_jupyter.api.account import Account
from svc_jupyter.api.db_taps import DbTap, DbTapTable
from svc_jupyter.api.jupyter_contents import Contents

TOKEN = "token-of-reader-0123456789"


class ServiceDouble(Commands):
    """Answers as the contract says. It records calls, and it can refuse, fail, be slow or be away."""

    def __init__(self, *, bare: bool = False, first_command: int = 1, token: str = TOKEN) -> None:
        super().__init__(bare=bare, first_command=first_command)
        self.token = token
        self.next_answers: deque[httpx.Response | Exception | None] = deque()
        """What the next calls get instead of an answer; None lets one through."""
        self.answers: dict[str, Any] = {}
        """The answers to calls of other resources, by `METHOD path`; the bodies of these calls are in `sent`."""
        self.sent: list[dict[str, Any]] = []
        self.schedules = ScheduleDouble(bare=bare)
        self.clusters = ClusterDouble(self.submit, bare=bare)
        self.taps: dict[int, dict[str, Any]] = {}
        self.contents: dict[str, list[dict[str, Any]]] = {}
        """The entries of folders, by path."""
        self.notebooks: dict[str, dict[str, Any]] = {}
        """The documents of notebooks, by path."""

    def __exit__(self, *error_of_body: object) -> None:
        for number in self.commands:
            self.end(number)
        super().__exit__(*error_of_body)

    def transport(self) -> httpx.MockTransport:
        """Return the transport of a client of this service."""
        return httpx.MockTransport(self.respond)

    def add_tap(self, name: str, db_type: str = "sqlite", **fields: Any) -> dict[str, Any]:
        """Add a DB tap."""
        number = len(self.taps) + 1
        self.taps[number] = record_of(DbTap, id=number, name=name, db_type=db_type, **fields)
        return self.taps[number]

    def answer(self, request: httpx.Request) -> httpx.Response:
        if self.next_answers and (instead := self.next_answers.popleft()) is not None:
            if isinstance(instead, Exception):
                raise instead
            return instead
        if request.headers.get("X-AUTH-TOKEN") != self.token:
            return error(401, "the token is missing or wrong")
        path = re.sub(r"^/api/v[\d.]+/", "", request.url.path).rstrip("/")
        query, body = dict(request.url.params), json.loads(request.content or b"{}")
        if (known := self.answers.get(f"{request.method} {path}")) is not None:
            self.sent.append(body)
            return httpx.Response(200, json=known)
        resource, *rest = path.split("/")
        match resource:
            case "account":
                return httpx.Response(200, json=record_of(Account))
            case "commands":
                return self.answer_command(request, rest, query)
            case "db_taps":
                return self._taps(request.method, rest, query, body)
            case "jupyter_notebooks":
                return self._contents(request.method, "/".join(rest[1:]), body)
            case "actions" | "scheduler" | "clusters":
                double = self.clusters if resource == "clusters" else self.schedules
                with self.changed:
                    status, answer = double.answer(request.method, path, query, body)
                return httpx.Response(200, json=answer) if status == 200 else error(status, answer)
            case _:
                return error(404, f"there is no {path}")

    def _taps(self, method: str, rest: list[str], query: dict[str, str], body: dict[str, Any]) -> httpx.Response:
        shown = {name: value for name, value in body.items() if name != "db_passwd"}
        if not rest:
            taps = list(self.taps.values())
            answer = page_of("db_taps", taps, query) if method == "GET" else self.add_tap(**shown)
            return httpx.Response(200, json=answer)
        tap = self.taps.get(int(rest[0]))
        if tap is None:
            return error(404, f"there is no DB tap {rest[0]}")
        if rest[1:] == ["tables"]:
            table = record_of(DbTapTable, name="flights", schema_name="main", type="table")
            return httpx.Response(200, json={"tables": [table]})
        if rest[1:]:
            return error(404, f"there is no db_taps/{'/'.join(rest)}")
        if method == "DELETE":
            del self.taps[tap["id"]]
            return httpx.Response(200, json={"status": "deleted", "id": tap["id"]})
        tap |= shown
        return httpx.Response(200, json=tap)

    def _contents(self, method: str, path: str, body: dict[str, Any]) -> httpx.Response:
        folder, _, name = path.rpartition("/")
        if method == "PUT":
            self.contents.setdefault(folder, []).append(record_of(Contents, name=name, path=path, type=body["type"]))
            return httpx.Response(200, json=self.contents[folder][-1])
        if path in self.notebooks:
            about = {"name": name, "path": path, "type": "notebook", "format": "json", "content": self.notebooks[path]}
            return httpx.Response(200, json=record_of(Contents, **about))
        if path not in self.contents:
            return error(404, f"there is no {path}")
        about = {"name": name, "path": path, "type": "directory", "format": "json", "content": self.contents[path]}
        return httpx.Response(200, json=record_of(Contents, **about))
