"""Schedules: each call is compared with the contract's own words; what a bare service leaves out is lived without."""

from typing import Any

import httpx
import pytest
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble

from svc_jupyter.client import Conflict, NotFound, NotUnique

SCHEDULE = {
    "id": 12,
    "name": "report",
    "status": "RUNNING",
    "command_type": "ShellCommand",
    "command": {"inline": "date"},
    "macros": [],
    "start_time": "2026-11-22 09:00",
    "end_time": None,
    "frequency": 1,
    "time_unit": "days",
    "time_zone": "Europe/Paris",
    "time_out": 600,
    "command_timeout": "129600",
    "concurrency": 1,
    "no_catch_up": False,
    "label": "default",
    "dependency_info": {},
    "incremental": {},
    "next_materialized_time": "2026-11-22 09:00",
    "user_id": 1,
}
COMMAND = {
    "id": 128,
    "path": "/tmp/2026-11-21/1/128",
    "status": "done",
    "created_at": "2026-11-21T08:00:00Z",
    "submit_time": 1_763_712_000,
    "command_type": "ShellCommand",
    "account_id": 1,
    "user_id": 1,
    "meta_data": {"results_resource": "commands/128/results", "logs_resource": "commands/128/logs"},
    "command": {"inline": "date"},
    "nominal_time": "2026-11-21T08:00:00Z",
}
ACTION = {
    "id": 33,
    "periodic_job_id": 12,
    "sequence_id": 5,
    "nominal_time": "2026-11-21T08:00:00Z",
    "rerun_number": 0,
    "is_rerun_of": None,
    "done": True,
    "status": "done",
    "query_hist_id": 128,
    "dependencies": {"found": [], "not_found": []},
    "command": COMMAND,
    "created_at": "2026-11-21T08:00:00Z",
}
PAGE = {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
CHANGED = {"succeeded": "true", "status": "SUSPENDED"}


def calls(client: Any) -> dict[str, tuple[Any, Any, str, Any]]:
    """Return for each call: what makes it, the answer it gets, the request line and the body it sends."""
    schedules = client.schedules
    base = "/api/v1.2/scheduler"
    return {
        "create": (
            lambda: schedules.create(
                "ShellCommand",
                {"inline": "date"},
                frequency=1,
                time_unit="days",
                time_zone="Europe/Paris",
                macros={"day": "1"},
                tags=["a", "b"],
                label=None,
            ),
            SCHEDULE,
            f"POST {base}",
            {
                "command_type": "ShellCommand",
                "command": {"inline": "date"},
                "frequency": 1,
                "time_unit": "days",
                "time_zone": "Europe/Paris",
                "macros": [{"day": "1"}],
                "tags": "[a,b]",
            },
        ),
        "edit": (
            lambda: schedules.edit(12, cron_expression="0 9 * * *", end_time="", no_catch_up=False),
            SCHEDULE,
            f"PUT {base}/12",
            {"cron_expression": "0 9 * * *", "end_time": "", "no_catch_up": False},
        ),
        "list": (
            lambda: schedules.list(name="rep", status="RUNNING"),
            {"schedules": [SCHEDULE], "paging_info": PAGE},
            f"GET {base}?page=1&per_page=10&name=rep&status=RUNNING",
            None,
        ),
        "get": (lambda: schedules.get(12), SCHEDULE, f"GET {base}/12", None),
        "suspend": (lambda: schedules.suspend(12), CHANGED, f"PUT {base}/12", {"status": "suspend"}),
        "resume": (
            lambda: schedules.resume(12, no_catch_up=True),
            CHANGED | {"status": "RUNNING"},
            f"PUT {base}/12",
            {"status": "resume", "no_catch_up": True},
        ),
        "kill": (lambda: schedules.kill(12), CHANGED | {"status": "KILLED"}, f"PUT {base}/12", {"status": "kill"}),
        "preview": (
            lambda: schedules.preview(command={"inline": "$day$"}, macros={"day": "1+1"}, cron_expression="0 9 * * *"),
            {"command": {"inline": "2"}, "macros": {"day": 2}},
            f"POST {base}/preview_macro",
            {"command": {"inline": "$day$"}, "macros": [{"day": "1+1"}], "cron_expression": "0 9 * * *"},
        ),
        "actions": (
            lambda: schedules.actions(12, per_page=3),
            {"actions": [ACTION], "paging_info": PAGE},
            f"GET {base}/12/actions?page=1&per_page=3",
            None,
        ),
        "all actions": (
            schedules.actions,
            {"actions": [ACTION], "paging_info": PAGE},
            "GET /api/v1.2/actions?page=1&per_page=10",
            None,
        ),
        "action": (
            lambda: schedules.action(12, 5),
            {"actions": [ACTION], "paging_info": PAGE},
            f"GET {base}/12/actions/5",
            None,
        ),
        "action_with_id": (lambda: schedules.action_with_id(33), ACTION, "GET /api/v1.2/actions/33", None),
        "kill_action": (
            lambda: schedules.kill_action(33),
            {"kill_succeeded": "true"},
            "PUT /api/v1.2/actions/33/kill",
            {},
        ),
        "rerun": (
            lambda: schedules.rerun(33),
            {"status": "rescheduled"},
            "POST /api/v1.2/actions/33/rerun",
            {},
        ),
        "instances": (
            lambda: schedules.instances(12),
            {"commands": [COMMAND], "paging_info": PAGE},
            f"GET {base}/12/instances?page=1&per_page=100",
            None,
        ),
        "instance_results": (
            lambda: schedules.instance_results(12, 5),
            {"inline": True, "results": "x\r\n"},
            f"GET {base}/12/instances/5/results?inline=true",
            None,
        ),
    }


def test_a_call_sends_and_reads_what_the_contract_says(connect: Any, bare: ServiceDouble) -> None:
    rows = calls(connect(bare))
    bare.next_answers += [httpx.Response(200, json=answer) for _, answer, _, _ in rows.values()]

    results = {name: make() for name, (make, *_) in rows.items()}

    assert sent(bare) == [(line, body) for _, _, line, body in rows.values()]
    answers = {name: answer for name, (_, answer, _, _) in rows.items()}
    assert {name: plain(result) for name, result in results.items()} == answers | {
        "suspend": "SUSPENDED",
        "resume": "RUNNING",
        "kill": "KILLED",
        "kill_action": True,
        "action": ACTION,
        "instances": [COMMAND],
    }


def plain(result: Any) -> Any:
    """Return what the service sent of a result."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    return result.model_dump(exclude_unset=True) if hasattr(result, "model_dump") else result


def test_creation_and_rerun_can_be_repeated_safely(connect: Any, bare: ServiceDouble) -> None:
    client = connect(bare)
    bare.next_answers += [httpx.Response(200, json=SCHEDULE), httpx.Response(200, json={"status": "rescheduled"})]
    client.schedules.create("ShellCommand", {"inline": "date"}, frequency=1, idempotency_key="mine")
    client.schedules.rerun(33)
    keys = [request.headers["Idempotency-Key"] for request in bare.requests]
    assert keys[0] == "mine"
    assert keys[1]


def test_an_instance_log_is_plain_text(connect: Any, bare: ServiceDouble) -> None:
    bare.next_answers.append(httpx.Response(200, text="line\n"))
    assert connect(bare).schedules.instance_logs(12, 5) == "line\n"
    assert bare.calls == ["GET /api/v1.2/scheduler/12/instances/5/logs"]


def test_an_edit_that_is_only_acknowledged_is_looked_up(connect: Any, bare: ServiceDouble) -> None:
    bare.next_answers += [httpx.Response(200, json={"succeeded": "true"}), httpx.Response(200, json=SCHEDULE)]
    assert connect(bare).schedules.edit(12, concurrency=2).id == 12


def test_of_an_action_and_its_reruns_the_newest_counts(connect: Any, bare: ServiceDouble) -> None:
    reruns = [ACTION | {"id": 40, "rerun_number": 2}, ACTION | {"id": 35, "rerun_number": 1}, ACTION]
    bare.next_answers.append(httpx.Response(200, json={"actions": reruns[::-1], "paging_info": PAGE}))
    assert connect(bare).schedules.action(12, 5).id == 40


def test_one_action_comes_by_itself_or_in_a_list(connect: Any, bare: ServiceDouble) -> None:
    schedules = connect(bare).schedules
    answers: list[Any] = [ACTION, {"actions": [ACTION], "paging_info": PAGE}]
    bare.next_answers += [httpx.Response(200, json=answer) for answer in answers * 2]
    by_number = [schedules.action(12, 5).id for _ in answers]
    assert (by_number, [schedules.action_with_id(33).id for _ in answers]) == ([33, 33], [33, 33])


def test_whether_an_action_was_killed_is_a_claim(connect: Any, bare: ServiceDouble) -> None:
    words = ("true", True, "false", False)
    bare.next_answers += [httpx.Response(200, json={"kill_succeeded": word}) for word in words]
    client = connect(bare)
    assert [client.schedules.kill_action(33) for _ in words] == [True, True, False, False]


def pages_of(plural: str, items: list[dict[str, Any]], per_page: int = 100) -> list[httpx.Response]:
    pages = [items[start : start + per_page] for start in range(0, len(items), per_page)]
    return [
        httpx.Response(
            200, json={plural: page, "paging_info": PAGE | {"page": n, "next_page": n + 1 if n < len(pages) else None}}
        )
        for n, page in enumerate(pages, start=1)
    ]


def test_all_pages_are_walked_through(connect: Any, bare: ServiceDouble) -> None:
    client = connect(bare)
    bare.next_answers += pages_of("schedules", [SCHEDULE | {"id": number} for number in range(120, 0, -1)])
    assert len(list(client.schedules.iter())) == 120
    bare.next_answers += pages_of("actions", [ACTION | {"id": number} for number in range(150, 0, -1)])
    assert len(list(client.schedules.iter_actions(12))) == 150


def answers_to_find(*schedules: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, json={"schedules": list(schedules), "paging_info": PAGE})


def test_a_schedule_is_found_by_its_name_with_one_call(connect: Any, bare: ServiceDouble) -> None:
    bare.next_answers.append(answers_to_find(SCHEDULE | {"id": 14, "name": "report 2"}, SCHEDULE))
    assert connect(bare).schedules.find("report").id == 12
    assert bare.calls == ["GET /api/v1.2/scheduler?page=1&per_page=100&name=report"]


def test_of_several_with_a_name_the_living_one_is_meant_or_the_newest(connect: Any, bare: ServiceDouble) -> None:
    client = connect(bare)
    old = SCHEDULE | {"id": 5, "status": "KILLED"}
    bare.next_answers.append(answers_to_find(SCHEDULE, old))
    assert client.schedules.find("report").id == 12
    bare.next_answers.append(answers_to_find(old | {"id": 4}, old, old | {"id": 3}))
    assert client.schedules.find("report").id == 5
    bare.next_answers.append(answers_to_find(SCHEDULE | {"id": 13}, SCHEDULE, old))
    with pytest.raises(NotUnique, match=r"2 schedules are named 'report'; give the id: 13, 12"):
        client.schedules.find("report")


def test_a_schedule_is_found_by_its_id(connect: Any, bare: ServiceDouble) -> None:
    client = connect(bare)
    bare.next_answers.append(httpx.Response(200, json=SCHEDULE))
    assert client.schedules.find(12).name == "report"
    bare.next_answers.append(httpx.Response(200, json=SCHEDULE))
    assert client.schedules.find("12").name == "report"


def test_a_name_that_is_not_there_is_reported_with_the_nearest(connect: Any, bare: ServiceDouble) -> None:
    bare.next_answers += [answers_to_find(), answers_to_find(SCHEDULE)]
    with pytest.raises(NotFound, match="there is no schedule 'repart'; did you mean report"):
        connect(bare).schedules.find("repart")


def test_a_refusal_is_the_error_of_its_status(connect: Any, bare: ServiceDouble) -> None:
    body = {"error": {"error_code": 409, "error_message": "schedule 12 is KILLED and cannot be resumed"}}
    bare.next_answers.append(httpx.Response(409, json=body))
    with pytest.raises(Conflict, match="is KILLED"):
        connect(bare).schedules.resume(12)


def test_a_service_with_words_of_its_own_is_read(connect: Any, bare: ServiceDouble) -> None:
    own = SCHEDULE | {"status": "PAUSED", "command_timeout": 60, "macros": None, "surprise": {"a": 1}}
    bare.next_answers.append(httpx.Response(200, json=own))
    schedule = connect(bare).schedules.get(12)
    assert (schedule.status, schedule.command_timeout, schedule.surprise) == ("PAUSED", 60, {"a": 1})
