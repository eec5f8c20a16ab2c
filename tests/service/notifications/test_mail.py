from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.notifications.clocks import NOON
from tests.service.notifications.rows import row_of

from svc_jupyter.service.notifications.layout import Notice
from svc_jupyter.service.notifications.mail import compose, message_id
from svc_jupyter.service.notifications.rendering import command_ended

NOTICE = Notice("Daily sales failed", "It failed.\n", "<p>It failed.</p>\n")
HEADERS = ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]


def mail(notice: Notice = NOTICE, sender: str = "Data <data@example.org>", recipient: str = "ada@example.org") -> bytes:
    return compose(notice, sender=sender, recipient=recipient, delivery_id="7.1", created_at=NOON).as_bytes(policy.SMTP)


def read(data: bytes) -> EmailMessage:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def test_a_mail_has_its_headers_and_both_forms() -> None:
    message = read(mail())

    assert message["From"] == "Data <data@example.org>"
    assert message["To"] == "ada@example.org"
    assert message["Subject"] == "Daily sales failed"
    assert parsedate_to_datetime(message["Date"]).timestamp() == NOON
    assert message["Auto-Submitted"] == "auto-generated"
    assert message.get_content_type() == "multipart/alternative"
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert text.get_content() == NOTICE.text
    assert html is not None
    assert html.get_content() == NOTICE.html


def test_the_message_id_is_the_same_each_time_and_differs_between_messages() -> None:
    same = {message_id(sender="Data <data@example.org>", delivery_id="7.1") for _ in range(2)}
    other = message_id(sender="Data <data@example.org>", delivery_id="8.1")

    assert len({*same, other}) == 2
    assert all(item.endswith("@example.org>") for item in same)


@given(name=st.text(st.characters(exclude_categories=()), max_size=300), message=st.text(max_size=3000))
def test_whatever_a_user_writes_stays_in_its_place(name: str, message: str) -> None:
    row = row_of(id=1, status="error", name=f"{name}\r\nBcc: someone@example.org\r\n\r\n", message=message)
    notice = command_ended(row, public_url=None)

    received = read(mail(notice))

    assert received.keys() == HEADERS
    # Where a long subject is folded, Python's writer and reader may add or drop a space.
    assert received["Subject"].replace(" ", "") == notice.subject.replace(" ", "")
    body = received.get_body(("plain",))
    assert body is not None
    assert body.get_content().splitlines() == notice.text.splitlines()


def test_every_line_fits_what_mail_servers_take() -> None:
    row = row_of(id=1, status="error", name="ä" * 255, message="x" * 100_000)

    assert max(len(line) for line in mail(command_ended(row, public_url=None)).splitlines()) <= 998


@pytest.mark.parametrize(
    "recipient", ["ada@example.org\r\nBcc: someone@example.org", "ada@example.org\nBcc: e@example.org"]
)
def test_an_address_with_a_line_break_is_refused(recipient: str) -> None:
    with pytest.raises(ValueError, match="linefeed"):
        mail(recipient=recipient)
