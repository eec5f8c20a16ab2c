"""The commands of the double: they run as the test says, so that a state can be held while the test looks at it."""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx
import pyarrow as pa
from tests.support.double.records import arrow_bytes, command_record, page_of, query_log, text_of
from tests.support.http_front import HttpFront, error

from svc_jupyter.api import paths
from svc_jupyter.api.states import STATUS_FILTERS

Handler = Callable[[httpx.Request], httpx.Response]
_TEXTS = ("inline", "query", "latin_statements", "script_location", "path", "sub_command_args", "program", "sql")


@dataclass
class CommandDouble:
    """A command and how it goes: each look at it takes the next of `statuses`, the last one stays."""

    record: dict[str, Any]
    statuses: deque[str]
    held: bool = False
    """Whether it stays as it is until the test ends it or it is cancelled."""
    results: str = ""
    """The result as text, as it is sent; if empty, the rows of `table`."""
    locations: list[str] | None = None
    table: pa.Table | None = None
    dumps: dict[int, pa.Table] = field(default_factory=dict)
    """The rows of the tables before the last, of a Pig command's dumps or a note's run, by number."""
    notebook: tuple[str, str] | None = None
    """The executed notebook, as its file and as a page."""
    log: bytes = b""
    message: str | None = None
    outputs: dict[str, Any] | None = None
    messages: Sequence[str] = ()
    ignores_cancel: bool = False
    cancel_refusal: str | None = None
    events: deque[Handler] = field(default_factory=deque)
    """The answers to requests for the rows before the end; without one, that the command is not done."""

    @property
    def ended(self) -> bool:
        status = STATUS_FILTERS.get(self.record["status"])
        return status is not None and status.is_final

    @property
    def passes_states(self) -> bool:
        """Whether the next look changes its status."""
        return not self.held and len(self.statuses) > 1

    def look(self) -> str:
        """Return the next status."""
        if self.held:
            return str(self.record["status"])
        return self.see(self.statuses.popleft() if len(self.statuses) > 1 else self.statuses[0])

    def end(self, status: str) -> None:
        """End it, unless it has ended."""
        if not self.ended:
            self.held, self.statuses = False, deque([status])
            self.see(status)

    def see(self, status: str) -> str:
        """Set the status, and at the end all that is known then."""
        self.record["status"] = status
        if not self.ended:
            return status
        self.record |= {"progress": 100 if status == "done" else 0, "end_time": self.record["submit_time"] + 4}
        if self.table is not None and not self.record["qlog"]:
            self.record["qlog"] = query_log(self.table, self.messages)
        if "message" in self.record:
            rows = self.results.count("\n") or None if self.table is None else self.table.num_rows
            size = None if self.table is None else len(arrow_bytes(self.table))
            self.record |= {"message": self.message, "result_rows": rows, "result_bytes": size}
            if self.outputs is not None:
                self.record["outputs"] = self.outputs
        return status

    def inline(self) -> dict[str, Any]:
        """Return the result in the form of the contract."""
        if self.locations:
            return {"inline": False, "result_location": self.locations}
        return {"inline": True, "results": self.results or ("" if self.table is None else text_of(self.table))}


class Commands(HttpFront):
    """Answers calls for `commands…`; a bare service has none of our extensions."""

    def __init__(self, *, bare: bool, first_command: int) -> None:
        super().__init__()
        self.bare = bare
        self.commands: dict[int, CommandDouble] = {}
        self.submissions: list[dict[str, Any]] = []
        self.behaviours: dict[str, dict[str, Any]] = {}
        self.prepare: Callable[[CommandDouble], None] = lambda command: None
        self.ignores_wait = False
        self._first_command = first_command
        self._by_key: dict[str, int] = {}

    def add(self, command_type: str = "ShellCommand", *statuses: str, **fields: Any) -> CommandDouble:
        """Add a command with these statuses, one after the other; `fields` are those of its record."""
        number = self._first_command + len(self.commands)
        record = command_record(number, command_type, bare=self.bare, **fields)
        self.commands[number] = CommandDouble(record, deque(statuses or ("done",)))
        return self.commands[number]

    def behave(self, text: str, *, output: str = "", log: str = "", **how: Any) -> None:
        """Say how a command with this text goes: fields of `CommandDouble`, `status` of its end, `waiting` for what."""
        if self.bare and how.get("status") == "error":  # its log is the only place for the reason
            log += f"{how.get('message')}\n"
        self.behaviours[text.strip()] = {"results": output.replace("\n", "\r\n"), "log": log.encode()} | how

    def answer_command(self, request: httpx.Request, rest: list[str], query: dict[str, str]) -> httpx.Response:
        """Return the answer to a call for `commands/REST`."""
        if not rest:
            return self._submit(request, query) if request.method == "POST" else self._list(query)
        command = self.commands.get(int(rest[0]))
        if command is None:
            return error(404, f"there is no command {rest[0]}")
        part = rest[1] if len(rest) > 1 else "record"
        handler = getattr(self, f"_{part}", None)
        return handler(request, command, query) if handler else error(404, f"there is no {part} of a command")

    def submit(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create a command from a submission and return its record; it ends at once unless held or with more states."""
        how = dict(self._behaviour_of(body))
        shown = {"name": body.get("name"), "label": body.get("label"), "timeout": body.get("timeout"), "command": body}
        held, waiting, status = how.pop("held", False), how.pop("waiting", None), how.pop("status", "done")
        with self.changed:
            command = self.add(body["command_type"], status, **shown)
            command.held = held
            for name, value in how.items():
                setattr(command, name, value)
            if not waiting:
                command.record["start_time"] = command.record["submit_time"] + 1
            elif not self.bare:
                command.record["message"] = waiting
            if held and not waiting:
                command.record["status"] = "running"
            self.prepare(command)
            self.submissions.append(body)
            answer = dict(command.record)
            if not command.passes_states:
                command.look()
            self.changed.notify_all()
        return answer

    def run_children(self, number: int) -> None:
        """Run the sub-commands of a composite, each as a command of its own."""
        for place, sub_command in enumerate(self.commands[number].record["command"]["sub_commands"], start=1):
            self.change(self.submit(sub_command)["id"], parent_id=number, child_number=place)

    def end(self, number: int, status: str | None = None) -> None:
        """End a held command."""
        with self.changed:
            self.commands[number].end(status or self.commands[number].statuses[-1])
            self.changed.notify_all()

    def change(self, number: int, **fields: Any) -> None:
        """Change fields of a command's record."""
        with self.changed:
            self.commands[number].record.update(fields)
            self.changed.notify_all()

    def wait_until_submitted(self) -> None:
        """Wait for the first submission."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.commands, timeout=30)

    def wait_until_final(self, number: int) -> str:
        """Wait until a command has ended and return its status."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.commands[number].ended, timeout=30)
            return str(self.commands[number].record["status"])

    def _behaviour_of(self, body: dict[str, Any]) -> dict[str, Any]:
        text = str(next((body[name] for name in _TEXTS if body.get(name)), None))
        return self.behaviours.get(text.strip(), {})

    def _submit(self, request: httpx.Request, query: dict[str, str]) -> httpx.Response:
        key = request.headers.get("Idempotency-Key", "")
        if not self.bare and key in self._by_key:
            return httpx.Response(200, json=self.commands[self._by_key[key]].record)
        body = json.loads(request.content)
        if body["command_type"] == "NoSuchCommand":
            return error(422, "NoSuchCommand could not be created: unknown command_type")
        if asked := {name for name in ("dry_run", "limit") if body.get(name) == "?"}:
            fields = None if self.bare else dict.fromkeys(asked, "must be something else")
            return error(422, "the fields are not valid", fields)
        answer = self.submit(body)
        command = self.commands[answer["id"]]
        if not self.bare and paths.NOTEBOOK_HEADER in request.headers:
            command.record |= {"command_source": "UI", "notebook": unquote(request.headers[paths.NOTEBOOK_HEADER])}
        self._by_key[key] = answer["id"]
        if not self.bare and not self.ignores_wait and "wait" in query:
            self._hold(command, query)
            command.look()
            rows = "arrow" in query and command.table is not None and command.ended
            arrow = {"arrow": base64.b64encode(arrow_bytes(command.table)).decode()} if rows else {}
            answer = command.record | arrow
        return httpx.Response(200, json=answer)

    def _list(self, query: dict[str, str]) -> httpx.Response:
        records = [command.record for command in self.commands.values()]
        if not self.bare and "parent_id" in query:
            records = [record for record in records if str(record["parent_id"]) == query["parent_id"]]
        return httpx.Response(200, json=page_of("commands", records, query))

    def _record(self, request: httpx.Request, command: CommandDouble, query: dict[str, str]) -> httpx.Response:
        if request.method == "PUT":
            return self._cancel(command)
        self._hold(command, query)
        command.look()
        return httpx.Response(200, json=command.record)

    def _cancel(self, command: CommandDouble) -> httpx.Response:
        if command.cancel_refusal:
            return error(403, command.cancel_refusal)
        with self.changed:
            succeeded = not command.ended
            if succeeded and not command.ignores_cancel:
                command.end("cancelled")
            self.changed.notify_all()
        return httpx.Response(200, json={"kill_succeeded": succeeded, "result": "done" if succeeded else "ended"})

    def _hold(self, command: CommandDouble, query: dict[str, str]) -> None:
        """Let the time pass for which the service is asked to hold its answer."""
        if self.bare or self.ignores_wait or "wait" not in query:
            return
        while command.passes_states:
            command.look()
        if self.is_served and command.held:
            with self.changed:
                self.changed.wait_for(lambda: command.ended, timeout=float(query["wait"]))

    def _status_with_results(
        self, _request: httpx.Request, command: CommandDouble, query: dict[str, str]
    ) -> httpx.Response:
        self._hold(command, query)
        status = command.look()
        answer = {"id": command.record["id"], "status": status, "progress": command.record["progress"]}
        if not self.bare:
            answer["message"] = command.record["message"]
        if command.ended:
            answer |= {"error": None if status == "done" else command.message or status, "path": "/tmp"}
            if not self.bare:
                answer |= {key: command.record[key] for key in ("result_rows", "result_bytes")}
            answer |= command.inline()
        return httpx.Response(200, json=answer)

    def _results(self, request: httpx.Request, command: CommandDouble, query: dict[str, str]) -> httpx.Response:
        accepted = request.headers["Accept"]
        if command.notebook is not None and not accepted.endswith("/json"):
            text = command.notebook["html" in accepted]
            return httpx.Response(200, text=text, headers={"Content-Type": accepted})
        if command.record["status"] != "done":
            return error(422, f"command {command.record['id']} is not done ({command.record['status']})")
        if "sequence_number" in query:
            command = self._child_of(command, int(query["sequence_number"]))
        number = int(query.get("dump", query.get("table", 0)))
        table = command.dumps.get(number, command.table)
        if not self.bare and table is not None and paths.ARROW_STREAM in accepted:
            return httpx.Response(200, content=arrow_bytes(table), headers={"Content-Type": paths.ARROW_STREAM})
        if not self.bare and accepted == paths.CSV:
            return httpx.Response(200, content=b"a,b\r\n1,x\r\n", headers={"Content-Type": paths.CSV})
        return httpx.Response(200, json=command.inline())

    def _child_of(self, composite: CommandDouble, number: int) -> CommandDouble:
        """Return a sub-command of a composite by its number, or the composite if no test says how it goes."""
        sub_commands = composite.record["command"]["sub_commands"]
        how = self._behaviour_of(sub_commands[number - 1])
        return CommandDouble({}, deque(), results=how["results"], table=how.get("table")) if how else composite

    def _logs(self, _request: httpx.Request, command: CommandDouble, query: dict[str, str]) -> httpx.Response:
        start = int(query.get("err_file_processed", 0))
        added = max(0, len(command.log) - start)
        headers = {"Content-Type": "text/plain", "err_length": str(added), "tmp_length": "0"}
        if not self.bare:
            headers["log_length"] = str(len(command.log))
        return httpx.Response(200, content=command.log[start:], headers=headers)

    def _events(self, request: httpx.Request, command: CommandDouble, _query: dict[str, str]) -> httpx.Response:
        if self.bare or not command.events:
            return error(404, "there is no events of a command")
        return command.events.popleft()(request)
