"""The whole way, with a service in a process of its own."""

import asyncio
from collections.abc import Callable

from tests.service.notifications.clocks import eventually
from tests.service.notifications.mail_server import HOST, MailServer
from tests.support.service_process import ServiceProcess


async def test_a_command_that_asks_for_it_is_told_by_mail(
    new_service: Callable[..., ServiceProcess], mail_server: MailServer
) -> None:
    await mail_server.start()
    service = new_service(smtp_host=HOST, smtp_port=mail_server.port, smtp_security="none")
    await asyncio.to_thread(service.start)

    silent = await asyncio.to_thread(service.submit, "exit 1", name="silent")
    await asyncio.to_thread(service.ended, silent["id"])
    told = await asyncio.to_thread(service.submit, "exit 3", name="told", can_notify=True)
    record = await asyncio.to_thread(service.ended, told["id"])
    await eventually(lambda: mail_server.received)

    assert record["can_notify"] is True
    (received,) = mail_server.received
    assert received.recipients == ["admin@localhost"]
    assert received.message["Subject"] == f"[svc-jupyter] told failed (command {told['id']})"


async def test_a_command_that_is_cancelled_while_it_waits_is_told_by_mail(
    new_service: Callable[..., ServiceProcess], mail_server: MailServer
) -> None:
    await mail_server.start()
    service = new_service(smtp_host=HOST, smtp_port=mail_server.port, smtp_security="none", running_limit=1)
    await asyncio.to_thread(service.start)
    await asyncio.to_thread(service.submit, "sleep 1000")
    waiting = await asyncio.to_thread(service.submit, "exit 0", can_notify=True)

    await asyncio.to_thread(service.http.put, f"/commands/{waiting['id']}", json={"status": "kill"})
    await eventually(lambda: mail_server.received)

    (received,) = mail_server.received
    assert received.message["Subject"] == f"[svc-jupyter] ShellCommand was cancelled (command {waiting['id']})"


async def test_without_a_mail_server_a_command_that_asks_for_mail_runs_and_its_log_says_why_none_comes(
    new_service: Callable[..., ServiceProcess],
) -> None:
    service = new_service()
    await asyncio.to_thread(service.start)

    command = await asyncio.to_thread(service.submit, "echo hi", can_notify=True)
    record = await asyncio.to_thread(service.ended, command["id"])

    assert (record["status"], record["can_notify"]) == ("done", True)
    assert "no mail server (setting SVC_SMTP_HOST)" in await asyncio.to_thread(service.logs, command["id"])
