"""The protocol between the service and a session server: lines of JSON over loopback. Needs only the standard library.

The server begins with a challenge. Each call carries a proof that the caller knows the cluster's secret, which itself
never crosses the connection.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import Any

LINE_LIMIT = 64 * 2**20
"""Limit of a call in bytes; the service limits code to far less."""


def challenge() -> str:
    """Return a new challenge."""
    return secrets.token_hex(16)


def proof(secret: str, challenged: str) -> str:
    """Return the answer to a challenge, which requires the secret."""
    return hmac.new(secret.encode(), challenged.encode(), hashlib.sha256).hexdigest()


def is_proof(secret: str, challenged: str, given: str) -> bool:
    """Return whether an answer to a challenge is correct."""
    return hmac.compare_digest(proof(secret, challenged), given)


def line(value: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(value).encode() + b"\n"
