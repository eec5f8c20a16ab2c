"""A notice as an e-mail."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr

from svc_jupyter.service.notifications.layout import Notice


def compose(notice: Notice, *, sender: str, recipient: str, delivery_id: str, created_at: float) -> EmailMessage:
    """Return the e-mail, text and HTML, that tells a notice; the same arguments give the same Message-ID.

    `sender` is an address, with a name before it if wanted. `created_at` is in Unix seconds. Raises `ValueError` when
    an address holds a line break.
    """
    message = EmailMessage()
    message["From"] = sender
    message["To"] = recipient
    message["Subject"] = notice.subject
    message["Date"] = format_datetime(datetime.fromtimestamp(int(created_at), UTC))
    message["Message-ID"] = message_id(sender=sender, delivery_id=delivery_id)
    # No machine answers it, as with "out of office" (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(notice.text)
    message.add_alternative(notice.html, subtype="html")
    return message


def message_id(*, sender: str, delivery_id: str) -> str:
    """Return what names a message of this service for mail programs, which never show an id twice."""
    domain = parseaddr(sender)[1].rpartition("@")[2] or "localhost"
    return f"<svc-jupyter.{delivery_id}@{domain}>"
