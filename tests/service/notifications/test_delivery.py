import asyncio
import ssl
import traceback
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP
from pydantic import SecretStr
from tests.service.notifications.clocks import eventually
from tests.service.notifications.mail_server import HOST, PASSWORD, USER, MailServer

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications.mail import NotDelivered, deliver, smtp_session

WITHIN = 30.0


def message(subject: str = "Hello") -> EmailMessage:
    written = EmailMessage()
    written["From"] = "Data <data@example.org>"
    written["To"] = "ada@example.org"
    written["Subject"] = subject
    written.set_content("Text\n")
    return written


@pytest.fixture
def settings(tmp_path: Path, mail_server: MailServer) -> Callable[..., Settings]:
    """Returns settings that name the mail server; no database is needed here."""

    def settings(**changes: Any) -> Settings:
        values = {
            "smtp_host": HOST,
            "smtp_port": mail_server.port,
            "smtp_security": "none",
            "smtp_sender": "Data <data@example.org>",
        }
        return Settings(data_dir=tmp_path).model_copy(update=values | changes)

    return settings


def login(password: str = PASSWORD) -> dict[str, Any]:
    return {"smtp_user": USER, "smtp_password": SecretStr(password)}


async def send(settings: Settings, *, recipient: str = "ada@example.org") -> None:
    async with smtp_session(settings) as session:
        await deliver(session, message(), recipient, within=WITHIN)


async def failure(settings: Settings, *, recipient: str = "ada@example.org") -> NotDelivered:
    with pytest.raises(NotDelivered) as caught:
        await send(settings, recipient=recipient)
    return caught.value


async def test_a_message_reaches_the_server(mail_server: MailServer, settings: Callable[..., Settings]) -> None:
    await mail_server.start()

    await send(settings())

    (received,) = mail_server.received
    assert (received.sender, received.recipients) == ("data@example.org", ["ada@example.org"])
    assert received.message["Subject"] == "Hello"


async def test_a_message_reaches_an_address_beyond_ascii(
    mail_server: MailServer, settings: Callable[..., Settings]
) -> None:
    await mail_server.start()

    await send(settings(), recipient="zoë@example.org")

    (received,) = mail_server.received
    assert received.recipients == ["zoë@example.org"]


async def test_the_client_names_itself_by_a_domain_or_an_address(
    mail_server: MailServer, settings: Callable[..., Settings]
) -> None:
    await mail_server.start()

    async with smtp_session(settings()) as session:
        await deliver(session, message(), "ada@example.org", within=WITHIN)
        name = mail_server.connections[0].session.host_name

    assert "." in name


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_message_is_sent_encrypted_and_after_a_login(
    mail_server: MailServer, settings: Callable[..., Settings], server_context: ssl.SSLContext, security: str
) -> None:
    await mail_server.start(tls=security, context=server_context, login=True)

    await send(settings(smtp_security=security, **login()))

    assert len(mail_server.received) == 1
    assert mail_server.logins == [USER]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("password", ["wrong-horse", "geheim-ß"])
async def test_a_wrong_password_is_reported_without_it_and_may_be_tried_again(
    mail_server: MailServer, settings: Callable[..., Settings], server_context: ssl.SSLContext, password: str
) -> None:
    await mail_server.start(tls="starttls", context=server_context, login=True)

    error = await failure(settings(smtp_security="starttls", **login(password)))

    assert f"127.0.0.1:{mail_server.port} refused 'svc' to log in: 535" in str(error)
    assert error.may_retry
    assert password not in "".join(traceback.format_exception(error))
    assert mail_server.received == []


async def test_nothing_goes_in_clear_text_where_encryption_is_asked_for(
    mail_server: MailServer, settings: Callable[..., Settings]
) -> None:
    await mail_server.start(login=True)

    error = await failure(settings(smtp_security="starttls", **login()))

    assert "STARTTLS" in str(error)
    assert (mail_server.received, mail_server.logins) == ([], [])


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_server_with_an_unknown_certificate_gets_nothing(
    mail_server: MailServer, settings: Callable[..., Settings], server_context: ssl.SSLContext, security: str
) -> None:
    await mail_server.start(tls=security, context=server_context, login=True)

    error = await failure(settings(smtp_security=security, **login()))

    assert "certificate" in str(error)
    assert (mail_server.received, mail_server.logins) == ([], [])


async def test_a_server_that_is_down_is_reported_by_name(settings: Callable[..., Settings], free_port: int) -> None:
    error = await failure(settings(smtp_port=free_port))

    assert str(error) == f"the mail server 127.0.0.1:{free_port} cannot be reached: Connection refused"
    assert error.may_retry


async def test_a_host_that_cannot_be_a_name_is_reported(settings: Callable[..., Settings]) -> None:
    error = await failure(settings(smtp_host="x" * 70, smtp_port=25))

    assert "cannot be reached" in str(error)


async def test_a_server_that_cannot_be_used_is_not_asked_again_in_a_session(
    mail_server: MailServer, settings: Callable[..., Settings]
) -> None:
    await mail_server.start()

    async with smtp_session(settings(smtp_security="starttls")) as session:
        for _ in range(3):
            with pytest.raises(NotDelivered, match="STARTTLS"):
                await deliver(session, message(), "ada@example.org", within=WITHIN)

    assert len(mail_server.connections) == 1


async def test_messages_share_a_connection(mail_server: MailServer, settings: Callable[..., Settings]) -> None:
    await mail_server.start()

    async with smtp_session(settings()) as session:
        for number in range(3):
            await deliver(session, message(str(number)), "ada@example.org", within=WITHIN)

    assert [received.message["Subject"] for received in mail_server.received] == ["0", "1", "2"]
    assert len(mail_server.connections) == 1


async def test_after_a_lost_connection_the_next_message_opens_another(
    mail_server: MailServer, settings: Callable[..., Settings]
) -> None:
    await mail_server.start()

    async with smtp_session(settings()) as session:
        await deliver(session, message("first"), "ada@example.org", within=WITHIN)
        mail_server.silent_at = "RCPT"
        lost = asyncio.create_task(deliver(session, message("lost"), "ada@example.org", within=WITHIN))
        await eventually(lambda: mail_server.is_silent)
        await mail_server.break_off()
        with pytest.raises(NotDelivered) as error:
            await lost
        mail_server.silent_at = None
        await deliver(session, message("second"), "ada@example.org", within=WITHIN)

    assert error.value.may_retry
    assert [received.message["Subject"] for received in mail_server.received] == ["first", "second"]
    assert len(mail_server.connections) == 2


@pytest.mark.parametrize("verb", ["RCPT", "DATA"])
async def test_a_refusal_for_good_is_told_from_one_for_now(
    mail_server: MailServer, settings: Callable[..., Settings], verb: str
) -> None:
    await mail_server.start()
    mail_server.answers[verb] = ["550 5.1.1 Unknown", "451 4.3.0 Later"]

    async with smtp_session(settings()) as session:
        with pytest.raises(NotDelivered, match=r"550 5\.1\.1 Unknown") as for_good:
            await deliver(session, message("refused"), "ada@example.org", within=WITHIN)
        with pytest.raises(NotDelivered, match=r"451 4\.3\.0 Later") as for_now:
            await deliver(session, message("refused"), "ada@example.org", within=WITHIN)
        await deliver(session, message("next"), "ada@example.org", within=WITHIN)

    assert (for_good.value.may_retry, for_now.value.may_retry) == (False, True)
    assert [received.message["Subject"] for received in mail_server.received] == ["next"]


async def test_a_refused_sender_may_be_tried_again(mail_server: MailServer, settings: Callable[..., Settings]) -> None:
    await mail_server.start()
    mail_server.answers["MAIL"] = ["553 5.7.1 Not your address"]

    error = await failure(settings())

    assert "553 5.7.1 Not your address" in str(error)
    assert error.may_retry


@pytest.mark.parametrize("farewell", ["421 Shutting down", "500 What?"])
async def test_an_accepted_message_stays_sent_whatever_the_server_replies_to_quit(
    mail_server: MailServer, settings: Callable[..., Settings], farewell: str
) -> None:
    await mail_server.start()
    mail_server.answers["QUIT"] = [farewell]

    await send(settings())

    assert len(mail_server.received) == 1


async def test_a_recipient_that_is_not_one_plain_address_gets_no_message(
    mail_server: MailServer, settings: Callable[..., Settings]
) -> None:
    await mail_server.start()
    recipients = ["root,ada@example.org", "ada@example.org (Ada)", "ada", "a:b@example.org;"]

    errors = {recipient: await failure(settings(), recipient=recipient) for recipient in recipients}

    told = {name: ("is not an e-mail address" in str(error), error.may_retry) for name, error in errors.items()}
    assert told == dict.fromkeys(recipients, (True, False))
    assert mail_server.connections == []


async def test_hostile_answers_become_one_clean_line(
    mail_server: MailServer, settings: Callable[..., Settings]
) -> None:
    await mail_server.start()
    mail_server.answers["RCPT"] = ["450-first\r\n450 \x1b[31mred\x00 " + "x" * 400]

    error = await failure(settings())

    assert "450 first [31mred xxx" in str(error)
    assert str(error).isprintable()


async def test_a_server_that_stays_silent_is_given_up_after_its_time(
    settings: Callable[..., Settings], silent_port: int
) -> None:
    error = await failure(settings(smtp_port=silent_port, smtp_timeout_seconds=0.2))

    assert "timed out" in str(error)
    assert error.may_retry


async def test_an_attempt_has_an_end_however_slow_each_answer_is(
    settings: Callable[..., Settings], mail_server: MailServer
) -> None:
    await mail_server.start()
    mail_server.silent_at = "DATA"

    async with smtp_session(settings()) as session:
        with pytest.raises(NotDelivered, match=r"within 0\.5 s"):
            await deliver(session, message(), "ada@example.org", within=0.5)
        with pytest.raises(NotDelivered, match=r"within 0\.5 s"):
            await deliver(session, message(), "ada@example.org", within=WITHIN)

    await eventually(lambda: not _open_connections(mail_server))


async def test_a_cancelled_delivery_leaves_no_connection_behind(
    settings: Callable[..., Settings], mail_server: MailServer
) -> None:
    await mail_server.start()
    mail_server.silent_at = "DATA"

    sending = asyncio.create_task(send(settings()))
    await eventually(lambda: mail_server.is_silent)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending

    await eventually(lambda: not _open_connections(mail_server))


def _open_connections(mail_server: MailServer) -> list[SMTP]:
    return [connection for connection in mail_server.connections if connection.transport is not None]
