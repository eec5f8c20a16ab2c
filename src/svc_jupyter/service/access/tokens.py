"""API tokens, which authenticate calls. Only their SHA-256 is stored."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import NewToken, Token, TokenCreate, TokenList
from svc_jupyter.api.paths import TOKEN_HEADER
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.accounts import ACCOUNT_ID, lock_account
from svc_jupyter.service.access.caller_reading import CallerCache, CallerReader, KnownCaller, enabled_owners
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.giving import check_user
from svc_jupyter.service.access.lookups import enabled_administrators
from svc_jupyter.service.access.permissions import Action, Resource, forbid_in_run, require, require_membership
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, Unauthorized
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import tokens, users

TOPIC = "access"
"""Bus topic of every change that may alter the user or rights of a token."""
SERVICE_TOKEN = "service.json"  # noqa: S105  the token's name, not the token
_RANDOM_BYTES = 32
_SHARED_CACHE_SECONDS = 5.0
"""With replicas, how long a change may go unnoticed when its message was lost."""


class Tokens:
    """Creates, lists and deletes tokens, and finds their users."""

    def __init__(self, database: Database, bus: Bus, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._bus = bus
        self._clock = clock
        self.reader = CallerReader()
        self._cache = CallerCache(max_age=None if database.on_sqlite else _SHARED_CACHE_SECONDS)
        bus.subscribe(TOPIC, lambda _payload: self.forget())

    async def caller(self, token: str | None) -> Caller:
        """Return the caller of a token, without I/O when it was used recently.

        Raises `Unauthorized` for a missing, unknown or expired token and for a disabled user, `Unavailable` when the
        database is away.
        """
        if not token:
            raise Unauthorized(f"the header {TOKEN_HEADER} is missing; it must carry an API token")
        digest = _digest(token)
        now = self._clock()
        known = self._cache.get(digest, now) or await self._look_up(digest, now)
        _check_time(known.caller, now)
        return known.caller

    async def user_id(self, token: str | None) -> int:
        """Return the id of a token's user. Raises like `caller`."""
        return (await self.caller(token)).user_id

    async def recheck(self, caller: Caller) -> None:
        """Raise `Unauthorized` when a waiting call's token is no longer valid; queries only after a change."""
        _check_time(caller, self._clock())
        if caller.token_id and caller.generation != self._cache.generation:
            good = sa.select(users.c.id).where(
                tokens.c.id == caller.token_id, tokens.c.user_id == caller.user_id, users.c.enabled
            )
            query = good.join(tokens, tokens.c.user_id == users.c.id)
            if await self._database.look_up(lambda connection: connection.execute(query).first()) is None:
                raise Unauthorized(f"the token in the header {TOKEN_HEADER} was taken back while the call waited")

    def forget(self) -> None:
        """Clear the cache of callers."""
        self._cache.clear()

    @contextmanager
    def changing_access(self) -> Iterator[sa.Connection]:
        """Run a write transaction that excludes others of its kind; then this and other replicas read callers again.

        Every change of users, groups, roles, policies or tokens uses it, so that it takes effect at once.
        """
        try:
            with self._database.begin() as connection:
                lock_account(connection, ACCOUNT_ID)
                self._bus.publish(connection, TOPIC)
                yield connection
        finally:  # also when the result of the commit is unknown
            self.forget()

    def list(self, user_id: int, page: Page, *, by: Caller) -> TokenList:
        """Return a page of a user's tokens without their secrets, newest first."""
        with self._database.connect() as connection:
            _check_owner(connection, user_id, by)
            shown, paging_info = page.read(
                connection, sa.select(tokens).where(_of_user(user_id)).order_by(tokens.c.id.desc())
            )
        return TokenList(tokens=[_token(row) for row in shown], paging_info=paging_info)

    def create(self, user_id: int, request: TokenCreate, *, by: Caller) -> NewToken:
        """Create a token of a user and return it with its secret, which cannot be read again.

        It does not outlive the caller's token, and by default expires with it. Raises `Forbidden` for a later expiry,
        and for a user with more rights than the caller has.
        """
        now = self._clock()
        with self._database.begin() as connection:
            _check_owner(connection, user_id, by)
            if user_id != by.user_id:
                check_user(connection, self.reader, by, user_id)
            expires_at = within(by.valid_until, expiry(request.expires_at, now))
            row, secret = insert_token(connection, user_id, request.name, now, expires_at)
            trail.record(connection, by, "create_token", Resource.USER, user_id, token_id=row.id, name=row.name)
        return NewToken(**_token(row).model_dump(), token=secret)

    def delete(self, user_id: int, token_id: int, *, by: Caller) -> None:
        """Delete a user's token; calls with it are refused from now on."""
        with self.changing_access() as connection:
            _check_owner(connection, user_id, by)
            mine = sa.delete(tokens).where(tokens.c.id == token_id, _of_user(user_id))
            if connection.execute(mine.returning(tokens.c.id)).first() is None:
                raise NotFound(f"user {user_id} has no token {token_id}")
            trail.record(connection, by, "delete_token", Resource.USER, user_id, token_id=token_id)

    def ensure_service_token(self, existing: str | None) -> str:
        """Return the token for `service.json`: `existing` while it is an enabled administrator's, else a new one.

        A new one belongs to the oldest enabled administrator and replaces earlier ones. Services that share a data
        folder must call this one after the other (lock file), so that none writes a token that another has just
        replaced.
        """
        now = self._clock()
        with self.changing_access() as connection:
            if existing and _is_administrators(connection, existing, now):
                return existing
            former = sa.delete(tokens).where(tokens.c.name == SERVICE_TOKEN).returning(tokens.c.id, tokens.c.user_id)
            gone = connection.execute(former).all()
            owner = connection.execute(enabled_administrators(ACCOUNT_ID).limit(1)).scalar_one()
            row, secret = insert_token(connection, owner, SERVICE_TOKEN, now, None)
            by = enabled_owners(connection, {owner})[owner]
            for token in gone:
                trail.record(connection, by, "delete_token", Resource.USER, token.user_id, token_id=token.id)
            trail.record(connection, by, "create_token", Resource.USER, owner, token_id=row.id, name=SERVICE_TOKEN)
        return secret

    async def _look_up(self, digest: str, now: float) -> KnownCaller:
        generation = self._cache.generation
        found = await self._database.read(lambda connection: self.reader.bearer(connection, digest, generation))
        if found is None:
            raise Unauthorized(f"the token in the header {TOKEN_HEADER} is not known to this service")
        caller, is_enabled = found
        if not is_enabled:
            raise Unauthorized(
                f"the token in the header {TOKEN_HEADER} belongs to a disabled user; an administrator can enable them"
            )
        known = KnownCaller(caller, read_at=now)
        self._cache.put(digest, known, generation)
        return known


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _token(row: sa.Row[Any]) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        created_at=iso_time(row.created_at),
        expires_at=None if row.expires_at is None else iso_time(row.expires_at),
    )


def insert_token(
    connection: sa.Connection,
    user_id: int,
    name: str,
    now: float,
    expires_at: float | None,
    *,
    command_id: int | None = None,
) -> tuple[sa.Row[Any], str]:
    """Store a new token; return its row and its secret. `command_id` is that of the run which alone has it."""
    secret = secrets.token_urlsafe(_RANDOM_BYTES)
    row = connection.execute(
        sa.insert(tokens)
        .values(
            user_id=user_id,
            name=name,
            digest=_digest(secret),
            created_at=now,
            expires_at=expires_at,
            command_id=command_id,
        )
        .returning(tokens)
    ).one()
    return row, secret


def _check_owner(connection: sa.Connection, user_id: int, by: Caller) -> None:
    """Require a permission, within the account, for tokens of another user; a run may neither see nor make any."""
    forbid_in_run(by, "see, make or delete tokens")
    if user_id == by.user_id:
        require_membership(by)
        return
    require(by, Action.MANAGE, Resource.USER)
    there = sa.select(users.c.id).where(users.c.id == user_id, users.c.account_id == by.account_id)
    if connection.execute(there).first() is None:
        raise NotFound(f"there is no user {user_id} in this account")


def _of_user(user_id: int) -> sa.ColumnElement[bool]:
    """Return the condition for a user's own tokens, without those of runs in their name."""
    return (tokens.c.user_id == user_id) & tokens.c.command_id.is_(None)


def _check_time(caller: Caller, now: float) -> None:
    if caller.valid_until is not None and caller.valid_until <= now:
        raise Unauthorized(f"the token in the header {TOKEN_HEADER} has expired; make a new one")


def _is_administrators(connection: sa.Connection, token: str, now: float) -> bool:
    owner = sa.select(tokens.c.user_id).where(
        tokens.c.digest == _digest(token), sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now)
    )
    return connection.execute(enabled_administrators(ACCOUNT_ID).where(users.c.id.in_(owner))).first() is not None


def expiry(text: str | None, now: float) -> int | None:
    """Return `expires_at` of a request in Unix seconds, None for a token that never expires.

    `text` is ISO 8601; without an offset it is UTC. Raises `Invalid` when it is malformed or not after `now`.
    """
    if text is None:
        return None
    utc = _utc(text)
    if utc is None:
        raise Invalid("expires_at: must be an ISO 8601 time such as 2031-05-31T18:00:00Z")
    seconds = int(utc.timestamp())
    if seconds <= now:
        raise Invalid("expires_at: must be in the future")
    return seconds


def within(limit: float | None, expires_at: int | None) -> int | None:
    """Return when a new token expires that is made with a token expiring at `limit`; None for never.

    Raises `Forbidden` when it would outlive that token, which would make the limit ineffective.
    """
    if limit is None:
        return expires_at
    if expires_at is not None and expires_at > limit:
        raise Forbidden(
            f"expires_at: a token cannot outlive the one it is made with, which expires at {iso_time(limit)}; "
            "ask for no more, or make it with a token that lives longer"
        )
    return int(limit) if expires_at is None else expires_at


def _utc(text: str) -> datetime | None:
    if not text.isprintable():  # the parser would ignore a NUL at the end
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
