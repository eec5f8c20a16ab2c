"""Schedules over HTTP in a real service: their records, their runs, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.integration.schedule_calls import EVERY_SECOND, NIGHTLY, actions_of, create, done_actions, kill
from tests.support.service_process import ServiceProcess, wait_until


def refusal(service: ServiceProcess, status: int, method: str, path: str, body: dict[str, Any] | None = None) -> str:
    response = service.http.request(method, path, json=body)
    error = response.json()["error"]
    assert (response.status_code, error["error_code"]) == (status, status), response.text
    return str(error["error_message"])


def ago(**before: float) -> str:
    return (datetime.now(UTC) - timedelta(**before)).strftime("%Y-%m-%dT%H:%MZ")


def test_the_record_of_a_new_schedule_has_every_field_of_the_contract(shared_service: ServiceProcess):
    made = create(shared_service, notification={"notify_failure": True, "notify_success": True})
    wanted = {
        "name": str(made["id"]),
        "status": "RUNNING",
        "command_type": "ShellCommand",
        "macros": NIGHTLY["macros"],
        "start_time": "2199-03-30 02:30",
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
        "next_materialized_time": "2199-03-30 02:30",
        "template": "generic",
        "pool": None,
        "can_notify": False,
        "is_digest": False,
        "digest_time_hour": 0,
        "digest_time_minute": 0,
        "bitmap": 3,
    }
    assert {key: made[key] for key in wanted} == wanted
    assert made["command"]["inline"] == "echo $day$"
    assert isinstance(made["user_id"], int)
    assert "@" in made["email_list"]
    viewed = shared_service.http.get(f"/scheduler/{made['id']}").json()
    assert viewed == made | {"command_timeout": 129_600}


def test_a_schedule_runs_what_was_missed_in_order_with_macros_of_each_nominal_time(shared_service: ServiceProcess):
    made = create(shared_service, start_time=ago(minutes=2), time_unit="minutes", time_zone="UTC", name="missed")
    first, second = done_actions(shared_service, made["id"], 2)[:2]
    assert (first["sequence_id"], second["sequence_id"]) == (1, 2)
    assert first["status"] == "done"
    nominal = datetime.fromisoformat(first["nominal_time"])
    assert datetime.fromisoformat(second["nominal_time"]) - nominal == timedelta(minutes=1)
    command = shared_service.record(first["query_hist_id"])
    assert (command["command_source"], command["sequence_id"], command["name"]) == ("SCHEDULED", 1, "missed")
    assert command["nominal_time"] == first["nominal_time"]
    assert shared_service.text(command["id"]) == nominal.strftime("%Y-%m-%d") + "\r\n"
    assert first["command"] == command
    path = f"/scheduler/{made['id']}/instances"
    assert shared_service.http.get(f"{path}/1").json()["commands"][0]["id"] == command["id"]
    assert shared_service.http.get(f"{path}/1/results").json()["results"].startswith("20")
    assert shared_service.http.get(f"{path}/1/logs").status_code == 200
    assert len(shared_service.http.get(path).json()["commands"]) >= 2
    assert shared_service.http.get(f"/actions/{first['id']}").json()["query_hist_id"] == command["id"]
    kill(shared_service, made["id"])


def test_a_cron_expression_with_seconds_fires_each_second(shared_service: ServiceProcess):
    made = create(shared_service, **EVERY_SECOND, concurrency=5)
    found = done_actions(shared_service, made["id"], 3)[:3]  # of the later ones, some may still run
    killed = shared_service.http.put(f"/scheduler/{made['id']}", json={"status": "kill"}).json()
    assert killed == {"succeeded": "true", "status": "KILLED"}
    times = [datetime.fromisoformat(action["nominal_time"]) for action in found]
    assert [later - earlier for earlier, later in pairwise(times)] == [timedelta(seconds=1)] * (len(times) - 1)
    assert "cannot be resumed" in refusal(shared_service, 409, "PUT", f"/scheduler/{made['id']}", {"status": "resume"})


def test_a_suspended_schedule_waits_and_a_resumed_one_goes_on(shared_service: ServiceProcess):
    made = create(shared_service, **EVERY_SECOND, concurrency=20)
    path = f"/scheduler/{made['id']}"
    done_actions(shared_service, made["id"], 1)
    for _ in range(2):  # a second time changes nothing
        answer = shared_service.http.put(path, json={"status": "suspend"}).json()
        assert answer == {"succeeded": "true", "status": "SUSPENDED"}
    before = len(actions_of(shared_service, made["id"]))
    witness = create(shared_service, **EVERY_SECOND)["id"]
    done_actions(shared_service, witness, 2)  # so a nominal time has passed
    kill(shared_service, witness)
    assert len(actions_of(shared_service, made["id"])) == before
    assert shared_service.http.put(path, json={"status": "resume", "no_catch_up": True}).json()["status"] == "RUNNING"
    found = done_actions(shared_service, made["id"], before + 1)
    times = [datetime.fromisoformat(action["nominal_time"]) for action in found]
    assert times[before] - times[before - 1] > timedelta(seconds=1)
    shared_service.http.put(path, json={"status": "kill"})


def test_a_kill_cancels_the_command_that_runs_and_the_actions_that_wait(shared_service: ServiceProcess):
    made = create(
        shared_service, command={"inline": "sleep 600"}, macros=None, start_time=ago(minutes=3), time_unit="minutes"
    )
    wait_until(lambda: any(a["status"] == "running" for a in actions_of(shared_service, made["id"])), "a running one")
    assert shared_service.http.put(f"/scheduler/{made['id']}", json={"status": "kill"}).json()["status"] == "KILLED"
    found = actions_of(shared_service, made["id"])
    assert {action["status"] for action in found} == {"cancelled"}
    assert all(action["done"] for action in found)
    assert "was killed" in refusal(shared_service, 409, "POST", f"/actions/{found[0]['id']}/rerun")


def test_a_rerun_is_for_the_same_nominal_time(shared_service: ServiceProcess):
    made = create(shared_service, start_time=ago(minutes=0), end_time=None)
    [first] = done_actions(shared_service, made["id"], 1)
    answer = shared_service.http.post(f"/actions/{first['id']}/rerun").json()
    assert answer["status"] == "rescheduled"
    path = f"/scheduler/{made['id']}/actions/1"
    wait_until(lambda: all(a["done"] for a in shared_service.http.get(path).json()["actions"]), "the rerun")
    again, original = shared_service.http.get(path).json()["actions"]
    assert (again["rerun_number"], again["is_rerun_of"]) == (1, original["id"])
    assert again["nominal_time"] == original["nominal_time"]
    assert again["query_hist_id"] != original["query_hist_id"]
    answer = shared_service.http.post(f"/scheduler/{made['id']}/instances/1/rerun").json()
    assert (answer["status"], answer["action"]["rerun_number"]) == ("rescheduled", 2)
    kill(shared_service, made["id"])


def test_an_action_waits_for_its_files_and_begins_when_they_are_there(shared_service: ServiceProcess):
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    info = {"files": [{"path": "landing/%Y-%m-%d", "done_flag": "_SUCCESS"}]}
    made = create(
        shared_service, start_time=ago(minutes=0), time_zone="UTC", dependency_info=info, name="after landing"
    )
    [waiting] = wait_until(lambda: actions_of(shared_service, made["id"]), "an action")
    wait_until(lambda: actions_of(shared_service, made["id"])[0]["dependencies"]["not_found"], "a look")
    [waiting] = actions_of(shared_service, made["id"])
    assert (waiting["status"], waiting["done"], waiting["query_hist_id"]) == ("waiting", False, None)
    assert waiting["dependencies"]["not_found"][0].endswith(f"landing/{day}/_SUCCESS")
    folder = shared_service.data_dir / "storage" / "landing" / day
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    [ran] = done_actions(shared_service, made["id"], 1)
    assert ran["status"] == "done"
    assert (len(ran["dependencies"]["found"]), ran["dependencies"]["not_found"]) == (1, [])
    kill(shared_service, made["id"])


def test_a_waiting_action_can_be_killed(shared_service: ServiceProcess):
    info = {"files": [{"path": "never/%Y"}]}
    made = create(shared_service, start_time=ago(minutes=0), dependency_info=info)
    [waiting] = wait_until(lambda: actions_of(shared_service, made["id"]), "an action")
    path = f"/actions/{waiting['id']}/kill"
    assert shared_service.http.put(path).json() == {"kill_succeeded": "true"}
    assert shared_service.http.put(path).json() == {"kill_succeeded": "false"}
    assert actions_of(shared_service, made["id"])[0]["status"] == "cancelled"
    kill(shared_service, made["id"])


def test_an_edit_changes_what_it_names_and_nothing_else(shared_service: ServiceProcess):
    made = create(shared_service, name="before", end_time="2199-12-31 00:00")
    path = f"/scheduler/{made['id']}"
    edited = shared_service.http.put(path, json={"name": "after", "concurrency": 3, "end_time": ""}).json()
    before = shared_service.http.get(path).json()
    assert (edited["name"], edited["concurrency"], edited["end_time"]) == ("after", 3, None)
    assert {k: v for k, v in before.items() if k not in ("name", "concurrency", "end_time")} == {
        k: v for k, v in made.items() if k not in ("name", "concurrency", "end_time", "command_timeout")
    } | {"command_timeout": 129_600}
    edited = shared_service.http.put(path, json={"time_zone": "Asia/Tokyo"}).json()
    assert (edited["start_time"], edited["next_materialized_time"]) == ("2199-03-30 02:30", "2199-03-30 02:30")
    edited = shared_service.http.put(path, json={"cron_expression": "0 9 * * 1-5"}).json()
    assert (edited["frequency"], edited["time_unit"], edited["next_materialized_time"][-5:]) == (None, None, "09:00")
    assert "reason" not in edited
    message = refusal(shared_service, 422, "PUT", path, {"time_unit": "hours"})
    assert "frequency" in message
    shared_service.http.put(path, json={"status": "kill"})
    assert "no longer be changed" in refusal(shared_service, 409, "PUT", path, {"name": "x"})


def test_lists_have_filters_and_can_give_everything(shared_service: ServiceProcess):
    ids = [create(shared_service, name=f"Listed {number}")["id"] for number in range(12)]
    listed = shared_service.http.get("/scheduler", params={"name": "isted", "status": "RUNNING"}).json()
    assert [item["id"] for item in listed["schedules"]] == ids[::-1][:10]
    assert listed["paging_info"]["next_page"] == 2
    everything = shared_service.http.get("/scheduler", params={"name": "listed", "page": "all"}).json()
    assert [item["id"] for item in everything["schedules"]] == ids[::-1]
    assert everything["paging_info"]["next_page"] is None
    assert "3 characters" in refusal(shared_service, 422, "GET", "/scheduler?name=ab")
    assert "status" in refusal(shared_service, 422, "GET", "/scheduler?status=over")


def test_a_preview_creates_nothing_and_shows_texts_and_times(shared_service: ServiceProcess):
    body = {
        "command": {"inline": "echo $day$"},
        "macros": NIGHTLY["macros"],
        "nominal_time": "2026-03-29T00:30Z",
        "time_zone": "Europe/Paris",
        "cron_expression": "30 9 * * 1-5",
    }
    shown = shared_service.http.post("/scheduler/preview_macro", json=body).json()
    assert shown["command"] == {"inline": "echo 2026-03-29"}
    assert shown["macros"] == {"day": "2026-03-29"}
    assert len(shown["next_times"]) == 5
    assert "09:30" in shown["description"]
    more = shared_service.http.post("/scheduler/preview_macro", json={**body, "times": 8}).json()
    assert more["next_times"][:5] == shown["next_times"]
    assert len(more["next_times"]) == 8


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "a<b"}, "name: must not contain"),
        ({"concurrency": 0}, "concurrency: "),
        ({"times": 201}, "times: "),
        ({"cron_expression": "61 * * * *"}, "cron_expression"),
        ({"notification": {"digest_time_hour": 24}}, "notification.digest_time_hour"),
        (
            {"dependency_info": {"files": [{"path": "%Y", "window_start": 1, "window_end": 0}]}, "frequency": 1},
            "dependency_info: files.0",
        ),
    ],
)
def test_a_preview_is_refused_as_a_creation_would_be(shared_service: ServiceProcess, fields: dict[str, Any], said: str):
    assert said in refusal(shared_service, 422, "POST", "/scheduler/preview_macro", fields)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cron_expression": "0 9 * * *"}, "never both"),
        ({"frequency": None}, "exactly one of frequency and cron_expression"),
        ({"frequency": 0}, "frequency"),
        ({"time_unit": "fortnights"}, "time_unit"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"end_time": "2199-03-30 02:30"}, "end_time"),
        ({"start_time": "tomorrow"}, "start_time"),
        ({"frequency": None, "cron_expression": "0 0 30 2 *"}, "never"),
        ({"frequency": None, "cron_expression": "61 * * * *"}, "minute"),
        ({"command_timeout": 129_601}, "command_timeout"),
        ({"concurrency": 0}, "concurrency"),
        ({"macros": [{"day": "nobody.knows"}]}, "macro 'day'"),
        ({"macros": [{"day": "while (true) {}"}]}, "macro 'day'"),
        ({"notification": {"notification_channels": [4711]}}, "4711"),
        ({"command": {}}, "ShellCommand could not be created"),
        ({"command_type": "NoCommand"}, "NoCommand"),
        ({"label": "elsewhere"}, "elsewhere"),
        ({"name": "a<b"}, "name"),
        ({"dependency_info": {"files": [{"path": "%Y", "window_start": 1, "window_end": 0}]}}, "window_start"),
    ],
)
def test_bad_input_is_refused_with_the_reason(shared_service: ServiceProcess, fields: dict[str, Any], said: str):
    assert said in refusal(shared_service, 422, "POST", "/scheduler", NIGHTLY | fields)


def test_an_unknown_schedule_or_action_is_reported_as_not_found(shared_service: ServiceProcess):
    for method, path in (
        ("GET", "/scheduler/99999"),
        ("PUT", "/scheduler/99999"),
        ("GET", "/scheduler/99999/actions"),
        ("GET", "/scheduler/99999/instances/1"),
        ("GET", "/actions/99999"),
        ("PUT", "/actions/99999/kill"),
        ("POST", "/actions/99999/rerun"),
        ("POST", "/scheduler/99999/instances/1/rerun"),
    ):
        assert "99999" in refusal(shared_service, 404, method, path, {})


def test_the_actions_of_an_owner_who_was_disabled_end_in_error(shared_service: ServiceProcess):
    http = shared_service.http
    user = http.post("/users/invite_new", json={"invitee_email": "leaving@example.org"}).json()["user"]["id"]
    token = http.post(f"/users/{user}/tokens", json={"name": "theirs"}).json()["token"]
    with shared_service.client(token) as theirs:
        made = theirs.post("/scheduler", json=NIGHTLY | EVERY_SECOND).json()
    done_actions(shared_service, made["id"], 1)
    http.post("/accounts/disable_user", json={"user_id": user})

    def refused() -> dict[str, Any] | None:
        return next((a for a in actions_of(shared_service, made["id"]) if a["status"] == "error"), None)

    action = wait_until(refused, "a refused action")
    assert (action["query_hist_id"], action["done"]) == (None, True)
    assert "owner is disabled" in action["message"]
    kill(shared_service, made["id"])


def test_macros_that_fail_at_a_run_are_reported_in_the_action(shared_service: ServiceProcess):
    # At creation, for a nominal time to come, there is nothing wrong with it.
    macros = [{"x": "Service_nominal_time.year() < 2100 ? nobody.knows : 1"}]
    made = create(shared_service, macros=macros)
    shared_service.http.put(f"/scheduler/{made['id']}", json={"start_time": ago(minutes=0), "time_unit": "months"})
    [action] = done_actions(shared_service, made["id"], 1)
    assert (action["status"], action["query_hist_id"]) == ("error", None)
    assert action["message"].startswith("not run: macro 'x': ")
    assert "nobody" in action["message"]
    kill(shared_service, made["id"])


def test_a_repeated_creation_with_an_idempotency_key_creates_once(shared_service: ServiceProcess):
    answers = [
        shared_service.http.post("/scheduler", json=NIGHTLY | {"name": "once"}, headers={"Idempotency-Key": "schedule"})
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert len(shared_service.http.get("/scheduler", params={"name": "once"}).json()["schedules"]) == 1


def test_a_command_that_is_killed_directly_ends_its_action(shared_service: ServiceProcess):
    made = create(shared_service, command={"inline": "sleep 600"}, macros=None, start_time=ago(minutes=0))
    [action] = wait_until(
        lambda: [a for a in actions_of(shared_service, made["id"]) if a["status"] == "running"], "a running one"
    )
    answer = shared_service.http.put(f"/commands/{action['query_hist_id']}", json={"status": "kill"}).json()
    assert answer["kill_succeeded"] is True
    [action] = actions_of(shared_service, made["id"])
    assert (action["status"], action["done"]) == ("cancelled", True)
    assert shared_service.http.put(f"/actions/{action['id']}/kill").json() == {"kill_succeeded": "false"}
    kill(shared_service, made["id"])


def test_a_composite_runs_its_sub_commands_with_the_macros_of_both(shared_service: ServiceProcess):
    own = [{"hour": "day + 'T' + Service_nominal_time.format('HH')"}]
    sub_commands = [
        {"command_type": "ShellCommand", "inline": "echo $day$"},
        {"command_type": "ShellCommand", "inline": "echo $hour$", "macros": own},
    ]
    made = create(
        shared_service,
        command_type="CompositeCommand",
        command={"sub_commands": sub_commands},
        start_time="2026-03-29T01:30Z",  # half past three in Paris, where it is summer since half an hour
        end_time="2026-03-29T01:31Z",
    )
    [action] = done_actions(shared_service, made["id"], 1)
    assert action["status"] == "done", action
    path = f"/commands/{action['query_hist_id']}/results"
    texts = [shared_service.http.get(path, params={"sequence_number": n}).json()["results"] for n in (1, 2)]
    assert texts == ["2026-03-29\r\n", "2026-03-29T03\r\n"]
    wait_until(lambda: shared_service.http.get(f"/scheduler/{made['id']}").json()["status"] == "DONE", "its end")
    assert "is DONE" in refusal(shared_service, 409, "PUT", f"/scheduler/{made['id']}", {"status": "kill"})


def test_a_schedule_ends_in_error_from_when_its_owner_has_lost_the_right_on(shared_service: ServiceProcess):
    http = shared_service.http
    allow = [{"access": "allow", "resource": "scheduler", "action": ["create", "read"]}]
    http.post("/roles", json={"name": "may schedule", "policies": allow}).raise_for_status()
    http.post("/groups", json={"name": "schedulers", "roles": "may schedule"}).raise_for_status()
    invited = {"invitee_email": "scheduling@example.org", "groups": "schedulers"}
    user_id = http.post("/users/invite_new", json=invited).raise_for_status().json()["user"]["id"]
    token = http.post(f"/users/{user_id}/tokens", json={"name": "own"}).raise_for_status().json()["token"]
    every_minute = {"frequency": 1, "time_unit": "minutes", "concurrency": 1, "macros": None}
    with shared_service.client(token) as own:
        body = {**NIGHTLY, **every_minute, "command": {"inline": "sleep 600"}, "start_time": ago(minutes=2)}
        body.pop("cron_expression", None)
        made = own.post("/scheduler", json=body).raise_for_status().json()
    [running] = wait_until(
        lambda: [a for a in actions_of(shared_service, made["id"]) if a["status"] == "running"], "a running one"
    )
    http.put("/groups/schedulers/roles/may schedule/unassign").raise_for_status()
    http.put(f"/commands/{running['query_hist_id']}", json={"status": "kill"}).raise_for_status()
    refused = wait_until(
        lambda: [a for a in actions_of(shared_service, made["id"]) if a["status"] == "error"], "a refused one"
    )
    assert {action["query_hist_id"] for action in refused} == {None}
    assert "scheduling@example.org may not run schedules any more" in refused[0]["message"]
    kill(shared_service, made["id"])


def test_a_notebook_cannot_be_scheduled_while_the_account_feature_is_off(shared_service: ServiceProcess):
    http = shared_service.http
    notebook = {"command_type": "JupyterNotebookCommand", "command": {"path": "Common/daily.ipynb", "retry": 2}}
    before = http.get("/account/features").json()
    try:
        http.put("/account/features", json={"jupyter_notebooks": False})
        assert "jupyter_notebooks" in refusal(shared_service, 403, "POST", "/scheduler", NIGHTLY | notebook)
        http.put("/account/features", json={"jupyter_notebooks": True})
        assert "daily.ipynb" in refusal(shared_service, 422, "POST", "/scheduler", NIGHTLY | notebook)
        http.put("/jupyter_notebooks/contents/Common/daily.ipynb", json={})
        made = create(shared_service, **notebook)
        assert (made["retry"], made["command"]["path"]) == (2, "Common/daily.ipynb")
        kill(shared_service, made["id"])
    finally:
        http.put("/account/features", json=before)
