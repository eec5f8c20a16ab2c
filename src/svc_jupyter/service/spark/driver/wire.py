"""How the service and a session server talk: lines of JSON over a connection on loopback. Only the standard library.

The server begins with a challenge. Each call carries the proof that the caller knows the cluster's secret, which itself
never crosses the connection.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import Any

LINE_LIMIT = 64 * 2**20
"""Bytes that a call may have; code is limited by the service long before."""


def challenge() -> str:
    """Return a new challenge."""
    return secrets.token_hex(16)


def proof(secret: str, challenged: str) -> str:
    """Return what only somebody who knows the secret can answer to a challenge."""
    return hmac.new(secret.encode(), challenged.encode(), hashlib.sha256).hexdigest()


def is_proof(secret: str, challenged: str, given: str) -> bool:
    """Return whether an answer to a challenge is right."""
    return hmac.compare_digest(proof(secret, challenged), given)


def line(value: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(value).encode() + b"\n"
