"""Idempotency keys: within 24 hours, a call with the same key and body gets the first answer and creates nothing.

A command's key is written in the transaction that creates the command. Other creating calls reserve their key first
and store the answer afterwards; an interrupted call leaves a key without an answer.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid, StateConflict
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.schema.commands import idempotency_keys as keys

KEEP_SECONDS = 24 * 3600
_KEY_LIMIT = 255
# Every submission of our own client has a key: the statements are built once.
_THIS = (keys.c.user_id == sa.bindparam("user")) & (keys.c.key == sa.bindparam("wanted"))
_FIND = sa.select(keys).where(_THIS)
_FORGET = sa.delete(keys).where(_THIS)
_REMEMBER = sa.insert(keys)


@dataclass(frozen=True, slots=True)
class IdempotentCall:
    """A creating call with a key; `digest` is that of method, path and body."""

    user_id: int
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The first answer to a call."""

    status: int
    body: bytes


def identify(user_id: int, key: str, method: str, path: str, body: bytes) -> IdempotentCall:
    """Return the identity of a call; raises `Invalid` for a key that is empty or too long."""
    if not key.strip() or len(key) > _KEY_LIMIT:
        raise Invalid(f"Idempotency-Key must have 1 to {_KEY_LIMIT} characters")
    text = b"\n".join((method.encode(), path.rstrip("/").encode(), body))
    return IdempotentCall(user_id, key, hashlib.sha256(text).hexdigest())


def first_answer(connection: sa.Connection, call: IdempotentCall) -> tuple[int | None, str | None] | None:
    """Return status and stored answer of the first call with this key, or None if there was none.

    Raises `Invalid` when that call had another body.
    """
    row = connection.execute(_FIND, {"user": call.user_id, "wanted": call.key}).one_or_none()
    if row is None:
        return None
    if row.created_at <= time.time() - KEEP_SECONDS:
        connection.execute(_FORGET, {"user": call.user_id, "wanted": call.key})
        return None
    if row.digest != call.digest:
        raise Invalid("this Idempotency-Key was used for another request; use a new key for a new request")
    return row.status, row.answer


def remember(connection: sa.Connection, call: IdempotentCall, status: int | None, answer: str | None) -> None:
    """Store the key, which `first_answer` did not find, with its answer; without one while the call is under way."""
    values = {
        "user_id": call.user_id,
        "key": call.key,
        "digest": call.digest,
        "created_at": time.time(),
        "status": status,
        "answer": answer,
    }
    connection.execute(_REMEMBER, values)


def _delete_old(connection: sa.Connection) -> None:
    connection.execute(sa.delete(keys).where(keys.c.created_at <= time.time() - KEEP_SECONDS))


class Idempotency:
    """Keys of creating calls other than commands. Stored answers are sealed: one may contain a new token."""

    def __init__(self, database: Database, secrets: SecretBox) -> None:
        self._database = database
        self._secrets = secrets

    async def forget_old(self) -> None:
        """Delete the expired keys."""
        await self._database.write(_delete_old)

    async def begin(self, call: IdempotentCall) -> Answer | None:
        """Reserve the key and return None, or return the first answer.

        Raises `StateConflict` while the first call is under way or when it was interrupted.
        """
        try:
            found = await self._database.write(lambda connection: self._reserve(connection, call))
        except IntegrityError:  # another replica has just reserved it
            found = (None, None)
        if found is None:
            return None
        status, answer = found
        if status is None or answer is None:
            raise StateConflict(
                "the first request with this Idempotency-Key has not been answered (it is under way, or broke off); "
                "look whether the object exists, then use a new key"
            )
        return Answer(status, json.loads(self._secrets.open(answer)).encode())

    async def complete(self, call: IdempotentCall, answer: Answer) -> None:
        """Store the answer; an error is not stored, so that its key can be used again."""

        def work(connection: sa.Connection) -> None:
            this = (keys.c.user_id == call.user_id) & (keys.c.key == call.key)
            if answer.status >= 400:
                connection.execute(sa.delete(keys).where(this))
                return
            sealed = self._secrets.seal(json.dumps(answer.body.decode()))
            connection.execute(sa.update(keys).where(this).values(status=answer.status, answer=sealed))

        await self._database.write(work)

    @staticmethod
    def _reserve(connection: sa.Connection, call: IdempotentCall) -> tuple[Any, Any] | None:
        found = first_answer(connection, call)
        if found is None:
            remember(connection, call, None, None)
        return found
