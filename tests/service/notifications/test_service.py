"""The whole way, with a service in a process of its own."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.service.notifications.clocks import eventually
from tests.service.notifications.hook_server import HookServer
from tests.service.notifications.mail_server import HOST, MailServer
from tests.support.service_process import ServiceProcess, wait_until


async def test_an_end_is_reported_by_mail_where_it_was_asked_for_also_of_a_command_that_waited(
    new_service: Callable[..., ServiceProcess], mail_server: MailServer
) -> None:
    await mail_server.start()
    service = new_service(smtp_host=HOST, smtp_port=mail_server.port, smtp_security="none", running_limit=1)
    await asyncio.to_thread(service.start)

    silent = await asyncio.to_thread(service.submit, "exit 1", name="silent")
    await asyncio.to_thread(service.ended, silent["id"])
    told = await asyncio.to_thread(service.submit, "exit 3", name="told", can_notify=True)
    record = await asyncio.to_thread(service.ended, told["id"])
    await eventually(lambda: mail_server.received)
    await asyncio.to_thread(service.submit, "sleep 1000")
    waiting = await asyncio.to_thread(service.submit, "exit 0", can_notify=True)
    await asyncio.to_thread(service.http.put, f"/commands/{waiting['id']}", json={"status": "kill"})
    await eventually(lambda: len(mail_server.received) > 1)

    assert record["can_notify"] is True
    failed, cancelled = mail_server.received
    assert failed.recipients == ["admin@localhost"]
    assert failed.message["Subject"] == f"[svc-jupyter] told failed (command {told['id']})"
    assert cancelled.message["Subject"] == f"[svc-jupyter] ShellCommand was cancelled (command {waiting['id']})"


def test_without_a_mail_server_a_command_that_asks_for_mail_runs_and_its_log_says_why_none_comes(
    shared_service: ServiceProcess,
) -> None:
    command = shared_service.submit("echo hi", can_notify=True)
    record = shared_service.ended(command["id"])
    assert (record["status"], record["can_notify"]) == ("done", True)
    assert "no mail server (setting SVC_SMTP_HOST)" in shared_service.logs(command["id"])


def test_a_run_that_fails_is_posted_to_its_schedules_webhook_whose_url_stays_secret(
    new_service: Callable[..., ServiceProcess], hook_server: HookServer
) -> None:
    secret = "T0-secret-B0"
    service = new_service(webhook_private_addresses="true", log_level="debug").start()
    url = hook_server.url(f"/{secret}")
    channel = service.http.post(
        "/notification_channels", json={"name": "on call", "type": "webhook", "target": url}
    ).json()
    begin = datetime.now(UTC) - timedelta(minutes=1)
    body = {
        "command_type": "ShellCommand",
        "command": {"inline": "exit 3"},
        "name": "Nightly",
        "start_time": begin.strftime("%Y-%m-%dT%H:%MZ"),
        "frequency": 1,
        "time_unit": "days",
        "notification": {"notify_failure": True, "notification_channels": [channel["id"]]},
    }

    schedule = service.http.post("/scheduler", json=body).json()
    wait_until(lambda: hook_server.posted, "the message")

    (posted,) = hook_server.posted
    assert posted.path == f"/{secret}"
    assert (posted.body["event"], posted.body["schedule_id"]) == ("schedule.failure", schedule["id"])
    assert (posted.body["name"], posted.body["status"], posted.body["sequence_id"]) == ("Nightly", "error", 1)
    assert posted.body["nominal_time"] == begin.strftime("%Y-%m-%dT%H:%M:00Z")
    assert posted.body["message"] == "the script exited with code 3"
    assert "X-AUTH-TOKEN" not in {name.upper() for name in posted.headers}
    assert service.token not in str(posted)
    refused = service.http.delete(f"/notification_channels/{channel['id']}")
    assert refused.status_code == 409
    assert f"{schedule['id']} (Nightly)" in refused.json()["error"]["error_message"]
    unknown = service.http.post("/scheduler", json=body | {"notification": {"notification_channels": [99]}})
    assert unknown.status_code == 422
    assert "notification channel 99" in unknown.json()["error"]["error_message"]
    service.stop()
    everything = service.log_file.read_text() + str(channel) + refused.text
    database = b"".join(file.read_bytes() for file in service.data_dir.glob("service.db*"))
    assert secret not in everything
    assert secret.encode() not in database
