"""A small double of the service behind real HTTP, with our extensions or without.

A double, since the whole path is tested in tests/integration: here a command runs as the test says, so that states
that a real service passes in a moment can be held as long as the test looks at them.
"""

import io
import json
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa
from tests.magics.cluster_double import ClusterDouble
from tests.magics.schedule_double import ScheduleDouble

TOKEN = "token-of-the-double"
ARROW = "application/vnd.apache.arrow.stream"
FINAL = ("done", "error", "cancelled")
_TEXTS = ("inline", "query", "latin_statements", "script_location", "path", "sub_command_args", "program", "sql")


@dataclass
class Behaviour:
    """How a command with a certain text goes. `held`: it runs until the test ends it or it is cancelled."""

    output: str = ""
    table: pa.Table | None = None
    log: str = ""
    status: str = "done"
    message: str | None = None
    held: bool = False
    waiting: str | None = None
    ignores_cancel: bool = False
    cancel_refusal: str | None = None
    outputs: dict[str, Any] | None = None
    """What a Pig command dumped and stored; `dumps` are the rows of those before the last, by number."""
    dumps: dict[int, pa.Table] = field(default_factory=dict)


@dataclass
class Stored:
    record: dict[str, Any]
    behaviour: Behaviour


@dataclass
class ServiceDouble:
    """The double's state; use it in a `with`."""

    bare: bool = False
    taps: list[dict[str, Any]] = field(default_factory=list)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    submissions: list[dict[str, Any]] = field(default_factory=list)
    commands: dict[int, Stored] = field(default_factory=dict)
    refusal: tuple[int, str] | None = None
    stuck: threading.Event | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.schedules = ScheduleDouble(bare=self.bare)
        self.clusters = ClusterDouble(self.submit, bare=self.bare)
        self.answers: dict[str, Any] = {}
        """By `METHOD path` what a call is answered with; what it sent is in `sent`."""
        self.sent: list[dict[str, Any]] = []
        self.contents: dict[str, list[dict[str, Any]]] = {}
        self.notebooks: dict[int, tuple[str, str]] = {}
        """Of the notebook runs the executed notebook, as its file and as a page."""

    def __enter__(self) -> "ServiceDouble":
        double = self

        class Handler(_Handler):
            service = double

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for command_id in self.commands:
            self.end(command_id)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def behave(self, text: str, **how: Any) -> None:
        """Say how a command with this text goes."""
        self.behaviours[text.strip()] = Behaviour(**how)

    def add_tap(self, name: str, db_type: str = "sqlite") -> None:
        self.taps.append(
            {"id": len(self.taps) + 7, "name": name, "db_type": db_type, "account_id": 1, "user_id": 1}
            | {"created_at": "2026-01-01T00:00:00Z"}
        )

    def submit(self, body: dict[str, Any]) -> dict[str, Any]:
        text = str(next((body[name] for name in _TEXTS if body.get(name)), None))
        behaviour = self.behaviours.get(text.strip(), Behaviour())
        with self.changed:
            number = 128 + len(self.commands)
            record = self._record(number, body, behaviour)
            self.commands[number] = Stored(record, behaviour)
            self.submissions.append(body)
            answer = dict(record)
            if not behaviour.held:
                self._finish(number, behaviour.status)
            self.changed.notify_all()
            return answer

    def _record(self, number: int, body: dict[str, Any], behaviour: Behaviour) -> dict[str, Any]:
        known = ("inline", "query", "script_location", "db_tap_id", "files", "archives", "parameters", "path")
        record = {
            "id": number,
            "path": f"/tmp/2026-01-01/1/{number}",
            "status": "waiting" if behaviour.waiting else "running" if behaviour.held else "waiting",
            "created_at": "2026-01-01T00:00:00Z",
            "submit_time": 1767225600,
            "start_time": None if behaviour.waiting else 1767225601,
            "command_type": body["command_type"],
            "progress": 0,
            "account_id": 1,
            "user_id": 1,
            "name": body.get("name"),
            "label": body.get("label"),
            "meta_data": {"results_resource": f"commands/{number}/results", "logs_resource": f"commands/{number}/logs"},
            "command": {name: body.get(name) for name in (*known, "sub_commands") if name in body},
        }
        if not self.bare:
            record |= {"throttled": False, "attempts": [], "message": behaviour.waiting, "result_rows": None}
        return record

    def child_of(self, number: int, query: dict[str, str]) -> Stored | None:
        """Return a composite's sub-command by the number that the query asks for: its behaviour says its result."""
        composite = self.commands[number].record
        if "sequence_number" not in query:
            return None
        sub_command = composite["command"]["sub_commands"][int(query["sequence_number"]) - 1]
        return Stored({}, self.behaviours[str(sub_command.get("inline") or sub_command.get("query")).strip()])

    def run_children(self, number: int) -> None:
        """Let the sub-commands of a composite have run, each as a command of its own."""
        sub_commands = self.commands[number].record["command"]["sub_commands"]
        for place, sub_command in enumerate(sub_commands, start=1):
            child = self.submit(sub_command)
            self.commands[child["id"]].record |= {"parent_id": number, "child_number": place}

    def _finish(self, number: int, status: str) -> None:
        stored = self.commands[number]
        if stored.record["status"] in FINAL:
            return
        stored.record["status"] = status
        stored.record["end_time"] = stored.record["submit_time"] + 4
        table = stored.behaviour.table
        if not self.bare:
            stored.record["message"] = stored.behaviour.message
            stored.record["result_rows"] = table.num_rows if table else stored.behaviour.output.count("\n")
            stored.record["outputs"] = stored.behaviour.outputs
        if status == "done":
            stored.record["progress"] = 100
            stored.record["qlog"] = json.dumps(_qlog(table)) if table else None

    def end(self, number: int, status: str | None = None) -> None:
        """End a held command."""
        with self.changed:
            self._finish(number, status or self.commands[number].behaviour.status)
            self.changed.notify_all()

    def change(self, number: int, **fields: Any) -> None:
        """Change fields of a record."""
        with self.changed:
            self.commands[number].record.update(fields)
            self.changed.notify_all()

    def kill(self, number: int) -> dict[str, Any]:
        with self.changed:
            stored = self.commands[number]
            if stored.record["status"] in FINAL:
                return {"kill_succeeded": False, "result": f"command {number} has ended"}
            if not stored.behaviour.ignores_cancel:
                self._finish(number, "cancelled")
            self.changed.notify_all()
            return {"kill_succeeded": True, "result": "cancelled"}

    def wait_for(self, number: int, seconds: float) -> None:
        if self.bare:
            return
        with self.changed:
            self.changed.wait_for(lambda: self.commands[number].record["status"] in FINAL, timeout=seconds)

    def wait_until_submitted(self, count: int = 1) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.commands) >= count, timeout=30)

    def wait_until_asked(self, path_part: str) -> None:
        """Wait for a request whose path holds this."""
        with self.changed:
            assert self.changed.wait_for(lambda: any(path_part in path for _, path in self.requests), timeout=30)

    def wait_until_final(self, number: int) -> str:
        with self.changed:
            assert self.changed.wait_for(lambda: self.commands[number].record["status"] in FINAL, timeout=30)
            return str(self.commands[number].record["status"])


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away; that is what clients do."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    service: ServiceDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815  names that http.server calls

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        parts = urlsplit(self.path)
        path = re.sub(r"^/api/v[\d.]+/", "", parts.path).rstrip("/")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        service = self.service
        with service.changed:
            service.requests.append((self.command, self.path))
            service.changed.notify_all()
        if service.stuck is not None:
            service.stuck.wait(30)
        if self.headers.get("X-AUTH-TOKEN") != TOKEN:
            return self._error(401, "the token is missing or wrong")
        if service.refusal is not None:
            return self._error(*service.refusal)
        return self._route(path, query, body)

    def _route(self, path: str, query: dict[str, str], body: dict[str, Any]) -> None:
        service = self.service
        if path == "commands" and self.command == "POST":
            return self._json(service.submit(body))
        if path == "commands":
            records = [stored.record for stored in reversed(service.commands.values())]
            if not service.bare:
                of_composite = query.get("parent_id")
                records = [record for record in records if of_composite in (None, str(record.get("parent_id")))]
            return self._json({"commands": records, "paging_info": {"page": 1, "per_page": 100}})
        of = {"scheduler": service.schedules, "actions": service.schedules, "clusters": service.clusters}
        if double := of.get(path.split("/")[0]):
            with service.changed:
                status, answer = double.answer(self.command, unquote(path), query, body)
            return self._json(answer) if status == 200 else self._error(status, answer)
        if f"{self.command} {path}" in service.answers:
            service.sent.append(body)
            return self._json(service.answers[f"{self.command} {path}"])
        if path.startswith("jupyter_notebooks/contents"):
            return self._contents(unquote(path.removeprefix("jupyter_notebooks/contents")).strip("/"), body)
        if path == "db_taps":
            return self._json({"db_taps": service.taps, "paging_info": {"page": 1, "per_page": 100}})
        if path == "account":
            return self._json(ACCOUNT)
        found = re.fullmatch(r"commands/(\d+)(?:/(\w+))?", path)
        if not found or int(found[1]) not in service.commands:
            return self._error(404, f"there is no {path}")
        return self._command(int(found[1]), found[2] or "", query)

    def _contents(self, path: str, body: dict[str, Any]) -> None:
        service = self.service
        if self.command == "PUT":
            folder, _, name = path.rpartition("/")
            about = {"name": name, "path": path, "type": body["type"], "size": 1, "writable": True}
            times = {"created": "2026-01-01T00:00:00Z", "last_modified": "2026-01-01T00:00:00Z"}
            service.contents.setdefault(folder, []).append(about | times)
            return self._json(about | times)
        if path not in service.contents:
            return self._error(404, f"there is no {path}")
        times = {"created": "2026-01-01T00:00:00Z", "last_modified": "2026-01-01T00:00:00Z"}
        folder = {"name": path, "path": path, "type": "directory", "format": "json", "writable": True} | times
        return self._json(folder | {"content": service.contents[path]})

    def _command(self, number: int, part: str, query: dict[str, str]) -> None:
        service = self.service
        stored = service.commands[number]
        if self.command == "PUT" and stored.behaviour.cancel_refusal:
            return self._error(403, stored.behaviour.cancel_refusal)
        if self.command == "PUT":
            return self._json(service.kill(number))
        if "wait" in query:
            service.wait_for(number, float(query["wait"]))
        if part == "":
            return self._json(stored.record)
        if part == "logs":
            return self._send(200, "text/plain", self._log(stored).encode(), {"err_length": "0", "tmp_length": "0"})
        if part == "status_with_results":
            return self._json(self._status_with_results(stored))
        if part == "results" and number in service.notebooks and self.headers["Accept"].rpartition("/")[2] != "json":
            kind = self.headers["Accept"]
            return self._send(200, kind, service.notebooks[number]["html" in kind].encode())
        if part == "results":
            return self._results(service.child_of(number, query) or stored, query)
        return self._error(404, f"there is no commands/{number}/{part}")

    def _log(self, stored: Stored) -> str:
        """Return the log; a bare service has no other place for why a command failed."""
        failed = self.service.bare and stored.record["status"] == "error"
        return stored.behaviour.log + (f"{stored.behaviour.message}\n" if failed else "")

    def _status_with_results(self, stored: Stored) -> dict[str, Any]:
        record = stored.record
        answer = {"id": record["id"], "status": record["status"], "progress": record["progress"]}
        if record["status"] == "done":
            answer |= {"inline": True, "results": stored.behaviour.output.replace("\n", "\r\n"), "path": record["path"]}
        elif record["status"] in FINAL:
            answer |= {"error": stored.behaviour.message or ""}
        return answer

    def _results(self, stored: Stored, query: dict[str, str]) -> None:
        table = stored.behaviour.dumps.get(int(query.get("dump", 0)), stored.behaviour.table)
        if table is not None and ARROW in self.headers.get("Accept", "") and not self.service.bare:
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            return self._send(200, ARROW, sink.getvalue())
        text = stored.behaviour.output.replace("\n", "\r\n")
        if table is not None:
            rows = [table.column_names, *([str(row[name]) for name in row] for row in table.to_pylist())]
            text = "".join("\t".join(row) + "\r\n" for row in rows)
        return self._json({"inline": True, "results": text})

    def _json(self, value: Any) -> None:
        self._send(200, "application/json", json.dumps(value).encode())

    def _error(self, status: int, message: str) -> None:
        body = json.dumps({"error": {"error_code": status, "error_message": message}}).encode()
        self._send(status, "application/json", body)

    def _send(self, status: int, kind: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            for name, value in ({"Content-Type": kind, "Content-Length": str(len(content))} | (headers or {})).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()
        except OSError:
            self.close_connection = True


def _qlog(table: pa.Table) -> dict[str, Any]:
    types = {"int64": "BIGINT", "string": "VARCHAR", "double": "DOUBLE"}
    columns = [
        {"ColumnName": column.name, "ColumnType": types.get(str(column.type), str(column.type))}
        for column in table.schema
    ]
    return {"QUERY-SCHEMA": {"-1": columns}, "messages": []}


ACCOUNT = {
    "id": 1,
    "name": "demo",
    "user_id": 3,
    "email": "reader@example.com",
    "groups": ["system-admin"],
    "features": {"jupyter_notebooks": True, "package_management": False},
    "storage_url": "file:///data/storage",
    "concurrent_command_limit": 20,
}


def wait_until(claim: Any, seconds: float = 30.0) -> None:
    """Wait until a claim holds, looking every few milliseconds."""
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)
