import json
from collections import deque
from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.support.double.service import ServiceDouble
from tests.support.http_front import error

from svc_jupyter.client import CommandCancelled, CommandFailed, Invalid, NotFound, NotKnown, Unauthorized, WaitTimeout


@pytest.mark.both_services
def test_a_shell_command_goes_from_submission_to_text(client: Any, service: ServiceDouble) -> None:
    service.prepare = lambda command: setattr(command, "results", "hello\r\nworld\r\n")

    command = client.commands.submit("ShellCommand", inline="echo hello; echo world")

    assert command.id == 1
    assert command.record.status == "waiting"
    assert command.wait().result().text() == "hello\nworld\n"
    assert command.ended


def test_with_the_extensions_a_short_text_command_takes_two_calls(connect: Any, extended: ServiceDouble) -> None:
    extended.prepare = lambda command: setattr(command, "results", "hi\r\n")

    frame = connect(extended).commands.submit("ShellCommand", inline="echo hi").wait().result().to_pandas()

    assert frame["line"].tolist() == ["hi"]
    assert extended.calls == ["POST /api/v1.2/commands/", "GET /api/v1.2/commands/1/status_with_results?wait=30"]


def test_a_short_command_is_run_in_one_call(connect: Any, extended: ServiceDouble) -> None:
    client = connect(extended)
    client.commands.submit("ShellCommand", inline="learn what the service can do")
    command = client.commands.run("ShellCommand", inline="true", name="short")

    assert command.ended
    assert extended.commands[command.id].record["name"] == "short"
    assert extended.calls[1:] == ["POST /api/v1.2/commands/?wait=30&arrow=true"]


def test_a_short_query_brings_its_rows_with_its_end(connect: Any, extended: ServiceDouble) -> None:
    client = connect(extended)
    client.commands.submit("ShellCommand", inline="learn what the service can do")
    extended.prepare = lambda command: setattr(command, "table", pa.table({"n": [1, 2]}))
    result = client.commands.run("PrestoCommand", query="VALUES 1, 2").result()

    for _ in range(2):
        assert result.to_arrow() == pa.table({"n": [1, 2]})
    assert result.to_pandas(limit=1)["n"].tolist() == [1]
    assert result.rows == 2
    assert extended.calls[1:] == ["POST /api/v1.2/commands/?wait=30&arrow=true"]


@pytest.mark.both_services
def test_a_command_is_run_to_its_end_by_a_service_that_does_not_hold_its_answer(
    client: Any, service: ServiceDouble
) -> None:
    service.ignores_wait = True
    service.prepare = lambda command: command.statuses.extendleft(["running", "running"])
    for _ in range(2):  # the first one tells what the service can do
        assert client.commands.run("ShellCommand", inline="true").record.status == "done"
    assert any("wait=" in call for call in service.calls) is not service.bare


@pytest.mark.both_services
def test_a_run_that_fails_raises_as_a_wait_does(client: Any, service: ServiceDouble) -> None:
    service.prepare = lambda command: setattr(command, "statuses", deque(["error"]))
    for command_id in (1, 2):
        with pytest.raises(CommandFailed, match=f"command {command_id} failed"):
            client.commands.run("ShellCommand", inline="exit 3")


def test_a_bare_service_is_never_asked_for_an_extension(connect: Any, bare: ServiceDouble) -> None:
    bare.prepare = lambda command: setattr(command, "results", "hi\r\n")

    connect(bare).commands.submit("ShellCommand", inline="echo hi").wait().result().text()

    assert bare.calls == [
        "POST /api/v1.2/commands/",
        "GET /api/v1.2/commands/1",
        "GET /api/v1.2/commands/1/results?inline=true&include_headers=false",
    ]
    assert all("arrow" not in request.headers["Accept"] for request in bare.requests)


def test_a_submission_carries_what_was_given_and_nothing_else(client: Any, service: ServiceDouble) -> None:
    client.commands.submit(
        "ShellCommand",
        inline="echo $day$",
        name="daily",
        tags=["sales", "daily"],
        macros={"day": '"2026-11-21"', "next": "day + 1"},
        timeout=60,
        retry=2,
        label=None,
    )

    assert json.loads(service.requests[0].content) == {
        "command_type": "ShellCommand",
        "inline": "echo $day$",
        "name": "daily",
        "tags": "[sales,daily]",
        "macros": [{"day": '"2026-11-21"'}, {"next": "day + 1"}],
        "timeout": 60,
        "retry": 2,
    }


def test_a_tag_that_the_wire_form_cannot_hold_is_refused_before_sending(client: Any, service: ServiceDouble) -> None:
    with pytest.raises(ValueError, match="comma"):
        client.commands.submit("ShellCommand", inline="true", tags=["a,b"])
    assert service.calls == []


def test_a_spark_command_is_posted_to_the_path_that_the_contract_writes_for_it(
    client: Any, service: ServiceDouble
) -> None:
    client.commands.submit("SparkCommand", note_id=7, language="notebook")
    assert service.calls == ["POST /api/v1.2/commands"]


def test_every_submission_has_an_idempotency_key_of_its_own(client: Any, service: ServiceDouble) -> None:
    for _ in range(2):
        client.commands.submit("ShellCommand", inline="true")
    client.commands.submit("ShellCommand", inline="true", idempotency_key="mine")

    keys = [request.headers["Idempotency-Key"] for request in service.requests]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_a_submission_names_its_notebook_where_it_has_one(client: Any, service: ServiceDouble) -> None:
    for names in ({}, {"notebook": ""}, {"notebook": "R&D Zürich.ipynb"}):
        client.commands.submit("ShellCommand", inline="true", **names)
    client.commands.run("ShellCommand", inline="true", notebook="report.ipynb")

    sent = [request.headers.get("Notebook-Name") for request in service.requests if request.method == "POST"]
    assert sent == [None, "", "R%26D%20Z%C3%BCrich.ipynb", "report.ipynb"]
    assert all("notebook" not in json.loads(request.content) for request in service.requests if request.content)


def test_a_submission_lost_with_its_connection_is_not_sent_twice_to_a_bare_service(
    connect: Any, bare: ServiceDouble
) -> None:
    bare.next_answers.append(httpx.ReadError("connection reset by peer"))

    with pytest.raises(Exception, match="broke the connection off") as raised:
        connect(bare).commands.submit("ShellCommand", inline="true")

    assert raised.value.maybe_sent
    assert len(bare.calls) == 1


def test_a_submission_lost_with_its_connection_is_repeated_once_the_service_is_known_to_honour_its_key(
    connect: Any, extended: ServiceDouble
) -> None:
    client = connect(extended)
    client.commands.submit("ShellCommand", inline="true")
    extended.next_answers.append(httpx.ReadError("connection reset by peer"))

    command = client.commands.submit("ShellCommand", inline="true")

    assert command.id == 2
    assert extended.requests[1].headers["Idempotency-Key"] == extended.requests[2].headers["Idempotency-Key"]


def test_a_submission_that_was_refused_for_now_is_repeated(client: Any, service: ServiceDouble) -> None:
    service.next_answers.extend([error(503, "stopping", **{"Retry-After": "0"}), httpx.ConnectError("refused")])
    assert client.commands.submit("ShellCommand", inline="true").id == 1


def test_a_submission_the_service_refuses_raises_in_its_words(client: Any, service: ServiceDouble) -> None:
    with pytest.raises(Invalid, match="NoSuchCommand could not be created: unknown command_type") as raised:
        client.commands.submit("NoSuchCommand")
    assert (raised.value.status, raised.value.trace_id) == (422, "trace-1")


@pytest.mark.both_services
def test_a_failed_command_raises_with_the_services_reason(client: Any, service: ServiceDouble) -> None:
    def fail(command: Any) -> None:
        command.statuses.clear()
        command.statuses.append("error")
        command.message = "exit code 2"
        command.log = b"line 1\nls: cannot access 'x'\n"

    service.prepare = fail
    command = client.commands.submit("ShellCommand", inline="ls x")

    with pytest.raises(CommandFailed, match="command 1 failed") as raised:
        command.wait()

    assert raised.value.command_id == 1
    assert raised.value.record.status == "error"
    assert ("exit code 2" if not service.bare else "ls: cannot access") in str(raised.value)
    assert command.log_tail(1) == "ls: cannot access 'x'"


def test_the_reason_of_a_failure_is_the_logs_last_line_where_the_service_reports_none(
    connect: Any, bare: ServiceDouble
) -> None:
    bare.add("ShellCommand", "error").log = b"starting\n10 %\r20 %\r\x1b[31mls: cannot access 'x'\x1b[0m\n\n"
    with pytest.raises(CommandFailed, match="command 1 failed: ls: cannot access 'x'"):
        connect(bare).commands.get(1).wait()


def test_a_cancelled_command_raises_as_such(client: Any, service: ServiceDouble) -> None:
    service.add("ShellCommand", "running", "running", "done")
    command = client.commands.get(1)

    answer = command.cancel()

    assert answer.kill_succeeded
    with pytest.raises(CommandCancelled):
        command.wait()
    assert client.commands.cancel(1).kill_succeeded is False


def test_a_wait_for_a_typed_command_does_not_fetch_its_rows_as_text(connect: Any, extended: ServiceDouble) -> None:
    connect(extended).commands.submit("DbTapQueryCommand", db_tap_id=1, query="select 1").wait()
    assert extended.calls[1:] == ["GET /api/v1.2/commands/1?wait=30"]


def test_a_wait_with_a_limit_ends_and_leaves_the_command_alone(client: Any, service: ServiceDouble) -> None:
    service.ignores_wait = True
    service.add("ShellCommand", "running")
    with pytest.raises(WaitTimeout, match=r"command 1 is still running after 0.3 s"):
        client.commands.get(1).wait(timeout=0.3)
    assert not any(call.startswith("PUT") for call in service.calls)


def test_an_update_shows_the_record_and_an_outage(client: Any, service: ServiceDouble) -> None:
    service.ignores_wait = True
    service.add("ShellCommand", "running", "running", "done")
    command = client.commands.get(1)
    service.next_answers.extend([httpx.ConnectError("refused"), error(503, "stopping"), None])
    updates: list[Any] = []

    command.wait(on_update=updates.append)

    assert [update.problem is None for update in updates] == [False, False, True, True]
    assert "stopping" in updates[1].problem
    assert updates[-1].record.status == "done"


def test_status_asks_until_the_command_has_ended(client: Any, service: ServiceDouble) -> None:
    service.add("ShellCommand", "waiting", "running", "done")
    command = client.commands.get(1)
    assert [command.status(), command.status(), command.status()] == ["running", "done", "done"]
    assert len(service.calls) == 3


def test_refresh_fetches_the_record_as_of_now(client: Any, service: ServiceDouble) -> None:
    service.add("ShellCommand", "waiting", "running")
    command = client.commands.get(1)
    assert command.refresh().record.status == "running"


def test_an_unknown_command_is_not_found(client: Any) -> None:
    with pytest.raises(NotFound, match="there is no command 99"):
        client.commands.get(99)


def test_a_list_is_one_page_and_passes_its_filters_on(client: Any, service: ServiceDouble) -> None:
    for _ in range(3):
        service.add()
    listing = client.commands.list(per_page=2, status="done", all_users=True, command_type=["A", "B"])
    assert [record.id for record in listing.commands] == [3, 2]
    assert listing.paging_info.next_page == 2
    assert service.requests[0].url.params == httpx.QueryParams(
        page=1, per_page=2, status="done", all_users=1, command_type="A,B"
    )


def test_iter_walks_through_all_pages(client: Any, service: ServiceDouble) -> None:
    for _ in range(230):
        service.add()
    assert [record.id for record in client.commands.iter()] == list(range(230, 0, -1))
    assert len(service.calls) == 3


def test_a_status_word_outside_the_contract_counts_as_running(connect: Any, bare: ServiceDouble) -> None:
    bare.add("ShellCommand", "cancelling", "cancelled")
    command = connect(bare).commands.get(1)
    assert command.record.status == "running"
    with pytest.raises(CommandCancelled):
        command.wait()


def test_a_record_whose_qlog_is_an_object_is_read_all_the_same(connect: Any, bare: ServiceDouble) -> None:
    bare.add().record |= {"qlog": {"QUERY-SCHEMA": {}}, "uid": "none", "resolved_macros": "x"}
    record = connect(bare).commands.get(1).record
    assert record.qlog == {"QUERY-SCHEMA": {}}
    assert record.meta_data.results_resource == "commands/1/results"
    listing = connect(bare).commands.list()
    assert listing.commands[0].meta_data.logs_resource == "commands/1/logs"


def test_the_log_part_says_where_to_go_on(client: Any, service: ServiceDouble) -> None:
    service.add().log = "première ligne\n".encode()
    part = client.commands.logs(1)
    assert (part.offset, part.end, part.text) == (0, 16, "première ligne\n")
    service.commands[1].log += b"second\n"
    assert client.commands.logs(1, part.end).text == "second\n"


LESS_THAN_A_RUN: list[tuple[str, dict[str, Any], str]] = [
    ("HiveCommand", {"query": "DROP TABLE t", "dry_run": True}, "dry_run"),
    ("HiveCommand", {"query": "SELECT 1", "limit": 5}, "limit"),
    (
        "CompositeCommand",
        {"sub_commands": [{"command_type": "HiveCommand", "query": "DROP TABLE t", "dry_run": True}]},
        "dry_run",
    ),
]
"""Types, fields, and which of these a service has to know."""


def test_less_than_a_run_is_asked_of_a_service_that_knows_it(connect: Any) -> None:
    def submitted(command_type: str, fields: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
        service = ServiceDouble()
        client = connect(service)
        client.commands.submit(command_type, **fields)
        client.commands.submit(command_type, **fields)
        return service.submissions, service.calls

    assert [submitted(command_type, fields) for command_type, fields, _ in LESS_THAN_A_RUN] == [
        ([{"command_type": command_type, **fields}] * 2, ["POST /api/v1.2/commands/"] * 3)  # it is asked once
        for command_type, fields, _ in LESS_THAN_A_RUN
    ]


def test_less_than_a_run_is_not_asked_of_a_service_that_does_not_know_it(connect: Any, bare: ServiceDouble) -> None:
    def refusal(command_type: str, fields: dict[str, Any]) -> str:
        with pytest.raises(NotKnown) as refused:
            connect(bare).commands.submit(command_type, **fields)
        return str(refused.value)

    refusals = [refusal(command_type, fields) for command_type, fields, _ in LESS_THAN_A_RUN]
    assert [text.partition(": ")[0] for text in refusals] == [
        f"the service at {bare.base_url} does not know {field}; nothing was sent" for *_, field in LESS_THAN_A_RUN
    ]
    assert bare.submissions == []


def test_an_unreachable_service_is_not_one_without_dry_runs(client: Any, service: ServiceDouble) -> None:
    service.refusal = (401, "the token is not valid")
    with pytest.raises(Unauthorized):
        client.commands.submit("HiveCommand", query="SELECT 1", dry_run=True)
    service.refusal = (422, "HiveCommand could not be created: no cluster")
    with pytest.raises(NotKnown):
        client.commands.submit("HiveCommand", query="SELECT 1", dry_run=True)
