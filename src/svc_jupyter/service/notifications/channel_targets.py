"""The valid targets of a channel, and the part of them that may be shown: pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parseaddr
from urllib.parse import urlsplit

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.ground.errors import Invalid

HIDDEN_PART = "…"
"""Stands for every part of a URL that may be a secret."""
_ADDRESSES_LIMIT = 50
_ADDRESS_LIMIT = 254
_URL_LIMIT = 2048
_NOT_IN_ADDRESS = r"@\s,;:<>()\[\]\\\"\x00-\x20\x7f\ud800-\udfff"
_ADDRESS = re.compile(rf"[^{_NOT_IN_ADDRESS}]+@[^{_NOT_IN_ADDRESS}.]+(\.[^{_NOT_IN_ADDRESS}.]+)*")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Target:
    """A channel's target: the part to show, and the whole URL of a webhook."""

    shown: str
    url: str | None = None

    def __repr__(self) -> str:
        return f"<Target {self.shown}>"


def parse_target(kind: ChannelType, text: str) -> Target:
    """Return the parsed target; raises `Invalid`, which never repeats the text: it may be a secret."""
    if kind is ChannelType.EMAIL:
        return Target(", ".join(_addresses(text)))
    return Target(_shown(text), text)


def addresses_of(shown: str) -> list[str]:
    """Return the addresses of an e-mail channel from its stored target."""
    return shown.split(", ")


def _addresses(text: str) -> list[str]:
    found: dict[str, str] = {}
    for number, item in enumerate(text.split(","), start=1):
        address = item.strip()
        if not _is_address(address):
            # Not repeated: it may be a URL entered with the wrong type.
            raise Invalid(f"target: address {number} is no e-mail address; write one, or several separated by commas")
        found.setdefault(address.lower(), address)
    if len(found) > _ADDRESSES_LIMIT:
        raise Invalid(f"target: at most {_ADDRESSES_LIMIT} addresses, {len(found)} were given")
    return list(found.values())


def _is_address(text: str) -> bool:
    # Refuse here, rather than at each sending, what the mail program would parse differently.
    return len(text) <= _ADDRESS_LIMIT and bool(_ADDRESS.fullmatch(text)) and parseaddr(text) == ("", text)


def _shown(url: str) -> str:
    import httpx

    if HIDDEN_PART in url:
        raise Invalid(f"target: give the whole URL; what holds {HIDDEN_PART} is how it is shown")
    if len(url) > _URL_LIMIT:
        raise Invalid(f"target: a URL may have at most {_URL_LIMIT} characters")
    wrong = Invalid("target: must be a URL such as https://hooks.example.com/path")
    if _UNPRINTABLE.search(url):
        raise wrong
    try:
        parts = urlsplit(url)
        port = parts.port
        sent = httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise wrong from None  # the cause may hold the URL
    if parts.scheme not in ("http", "https") or not parts.hostname or sent.host != parts.hostname or port == 0:
        raise wrong
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{HIDDEN_PART}"
