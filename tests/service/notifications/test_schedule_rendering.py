from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.service.notifications.clocks import NOON
from tests.service.notifications.pages import TEXTS, Page
from tests.service.notifications.schedule_rows import action_row, schedule_row

from svc_jupyter.service.notifications.audience import Outcome, outcome_of
from svc_jupyter.service.notifications.events import action_event, digest_event
from svc_jupyter.service.notifications.rendering import notice_of
from svc_jupyter.service.notifications.webhooks import webhook_body

NINE = 1_795_248_000.0  # 2026-11-21 08:00 UTC
URL = "https://svc.example.org/team/"
LINKS = {
    "schedule": "https://svc.example.org/team/api/v1.2/scheduler/5",
    "actions": "https://svc.example.org/team/api/v1.2/scheduler/5/actions",
    "action": "https://svc.example.org/team/api/v1.2/actions/33",
    "command": "https://svc.example.org/team/api/v1.2/commands/17",
    "log": "https://svc.example.org/team/api/v1.2/commands/17/logs",
}


def content_of(schedule: dict[str, Any] | None = None, **action: Any) -> dict[str, Any]:
    """Return what an action's end tells."""
    row = action_row(**{"nominal_time": NINE, "ended_at": NINE + 90} | action)
    outcome = outcome_of(row.status)
    assert outcome is not None
    return action_event(schedule_row(**schedule or {}), row, outcome).content


def digest_of(*actions: dict[str, Any], **schedule: Any) -> dict[str, Any]:
    """Return what a digest of actions tells, due a day later."""
    return digest_event(schedule_row(**schedule), NINE + 86_400, [content_of(**a)["action"] for a in actions]).content


def test_a_failure_is_reported_with_its_reason_first() -> None:
    notice = notice_of(content_of(message="exit code 7\nno such table"), public_url=None)

    assert notice.subject == "[svc-jupyter] Daily sales failed (2026-11-21 09:00 CET)"
    assert notice.text.splitlines() == [
        "Daily sales failed (2026-11-21 09:00 CET (Europe/Paris)).",
        "",
        "Reason:",
        "    exit code 7",
        "    no such table",
        "",
        "Schedule:     5 Daily sales",
        "Action:       4",
        "Nominal time: 2026-11-21 09:00 CET (Europe/Paris)",
        "Status:       error",
        "Command:      17",
        "Ended:        2026-11-21 09:01:30 CET (Europe/Paris)",
        "",
        "In a notebook:",
        "    %svc_schedule actions 5",
        "    %svc_command 17 logs",
    ]


def test_dependencies_that_did_not_come_are_named() -> None:
    keys = [f"s3://bucket/{number}/_SUCCESS" for number in range(60)]
    dependencies = {"found": ["s3://bucket/there"], "not_found": keys}

    content = content_of(status="not_found", message=None, command_id=None, dependencies=dependencies)
    notice = notice_of(content, public_url=None)

    assert notice.subject == (
        "[svc-jupyter] Daily sales did not run: its dependencies were not found (2026-11-21 09:00 CET)"
    )
    lines = notice.text.splitlines()
    assert lines[2:4] == ["Reason:", "    what it depends on did not come in time"]
    assert lines[5:7] == ["Not found:", "    s3://bucket/0/_SUCCESS"]
    assert "    and 10 more" in lines
    assert "s3://bucket/there" not in notice.text
    assert "%svc_command" not in notice.text


def test_a_success_has_no_reason() -> None:
    notice = notice_of(content_of(status="done", message=None), public_url=None)

    assert notice.subject == "[svc-jupyter] Daily sales is done (2026-11-21 09:00 CET)"
    assert "Reason" not in notice.text


def test_times_are_in_the_schedules_zone_and_name_it() -> None:
    shown = {
        "UTC": "2026-11-21 08:00 UTC",
        "America/New_York": "2026-11-21 03:00 EST (America/New_York)",
        "Asia/Kathmandu": "2026-11-21 13:45 +0545 (Asia/Kathmandu)",
    }

    texts = {zone: notice_of(content_of({"time_zone": zone}), public_url=None).text for zone in shown}

    lines = {zone: [line for line in text.splitlines() if line.startswith("Nominal")] for zone, text in texts.items()}
    assert lines == {zone: [f"Nominal time: {time}"] for zone, time in shown.items()}


def test_links_lead_to_the_public_address() -> None:
    notice = notice_of(content_of(), public_url=URL)

    assert Page(notice.html).links == list(LINKS.values())
    assert all(link in notice.text for link in LINKS.values())
    assert Page(notice_of(content_of(), public_url=None).html).links == []


def test_neither_the_commands_text_nor_the_reading_order_is_reported() -> None:
    notice = notice_of(content_of({"name": "a\u202eb"}), public_url=URL)

    assert "geheim" not in notice.text + notice.html
    assert "\u202e" not in notice.text + notice.html + notice.subject


def test_a_schedule_without_a_name_goes_by_its_id() -> None:
    assert notice_of(content_of({"name": None}), public_url=None).subject.startswith("[svc-jupyter] Schedule 5 failed")


def test_a_digest_shows_failures_first_with_their_reasons() -> None:
    missing = {"not_found": ["s3://bucket/day", "s3://bucket/week"]}
    content = digest_of(
        {"id": 1, "nominal_time": NINE, "status": "done"},
        {"id": 2, "nominal_time": NINE + 3600, "message": "exit code 7\nno such table", "command_id": 18},
        {"id": 3, "nominal_time": NINE + 1800, "status": "not_found", "message": None, "command_id": None}
        | {"dependencies": missing},
    )

    notice = notice_of(content, public_url=URL)

    assert notice.subject == "[svc-jupyter] Daily sales: 2 failed, 1 done (until 2026-11-22 09:00 CET)"
    assert notice.text.splitlines()[:10] == [
        "Daily sales: 2 failed, 1 done (until 2026-11-22 09:00 CET (Europe/Paris)).",
        "",
        "Failed:",
        "    2026-11-21 09:30 CET  what it depends on did not come in time",
        "        not found: s3://bucket/day",
        "        not found: s3://bucket/week",
        "    2026-11-21 10:00 CET  command 18  exit code 7 no such table",
        "",
        "Done:",
        "    2026-11-21 09:00 CET  command 17",
    ]
    assert "%svc_schedule actions 5" in notice.text
    assert Page(notice.html).links == [LINKS["schedule"], LINKS["actions"]]


def test_a_digest_of_very_many_actions_stays_a_message() -> None:
    actions = [{"id": number, "nominal_time": NINE + number, "message": "x" * 9000} for number in range(1500)]

    content = digest_of(*actions)
    notice = notice_of(content, public_url=None)

    assert (content["failures"], len(content["actions"])) == (1500, 200)
    assert "1,300 runs more" in notice.text
    assert len(notice.html) < 100_000
    assert len(str(webhook_body(content, delivery_id="7.1", public_url=None))) < 200_000


def test_the_body_of_a_webhook_has_its_documented_shape() -> None:
    action = {
        "action_id": 33,
        "sequence_id": 4,
        "nominal_time": "2026-11-21T08:00:00Z",
        "status": "error",
        "message": "exit code 7",
        "command_id": 17,
        "not_found": [],
        "ended_at": "2026-11-21T08:01:30Z",
    }
    about = {"delivery_id": "7.1", "schedule_id": 5, "name": "Daily sales", "time_zone": "Europe/Paris"}

    assert webhook_body(content_of(), delivery_id="7.1", public_url=URL) == {
        "event": "schedule.failure",
        "text": "Daily sales failed",
        **about,
        **action,
        "links": LINKS,
    }
    done = webhook_body(content_of(status="done", message=None), delivery_id="7.1", public_url=None)
    assert (done["event"], done["text"], done["links"]) == ("schedule.success", "Daily sales is done", {})
    assert webhook_body(digest_of({}), delivery_id="7.1", public_url=URL) == {
        "event": "schedule.digest",
        "text": "Daily sales: 1 failed",
        **about,
        "due_at": "2026-11-22T08:00:00Z",
        "failures": 1,
        "successes": 0,
        "actions": [action],
        "links": {key: LINKS[key] for key in ("schedule", "actions")},
    }


@given(name=TEXTS, message=TEXTS, key=TEXTS)
def test_no_text_becomes_markup_or_a_second_subject_line(name: str, message: str, key: str) -> None:
    hostile = "<script>alert(1)</script>\r\nBcc: someone@example.org"
    schedule = {"name": name + hostile}
    action = {"message": message + hostile, "dependencies": {"not_found": [key + hostile]}}
    plain = {"message": "m", "dependencies": {"not_found": ["k"]}}

    for content, expected in (
        (content_of(schedule, **action), content_of(**plain)),
        (digest_of(action, **schedule), digest_of(plain)),
    ):
        notice = notice_of(content, public_url=URL)
        assert set(Page(notice.html).tags) == set(Page(notice_of(expected, public_url=URL).html).tags)
        assert len(notice.subject.splitlines()) == 1
        (notice.text + notice.html).encode()


@given(st.lists(st.sampled_from(["done", "error", "not_found"]), min_size=1, max_size=300))
def test_a_digest_counts_every_action(statuses: list[str]) -> None:
    content = digest_of(*({"id": number, "status": status} for number, status in enumerate(statuses)))

    assert content["successes"] == statuses.count("done")
    assert content["failures"] + content["successes"] == len(statuses)
    outcomes = [action["outcome"] for action in content["actions"]]
    assert outcomes == sorted(outcomes, key=[Outcome.FAILURE, Outcome.SUCCESS].index)
    assert content["due_at"] < NOON
