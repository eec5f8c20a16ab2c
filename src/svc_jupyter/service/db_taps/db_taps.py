"""The account's DB taps: stored connections to databases."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy.exc import IntegrityError

from svc_jupyter.api.db_taps import DbTap, DbTapCreate, DbTapList, DbTapUpdate, DbType
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.job import Connection
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.db_taps import db_taps

_PLAIN = ("name", "db_type", "db_host", "port", "db_name", "db_user")
_DESTINATION = ("db_type", "db_host", "port", "db_user")
"""The destination of a password: a stored one is never sent to another."""
_WITHOUT_PASSWORD = (DbType.URL, DbType.SQLITE)
"""A URL holds its own password."""


@dataclass(frozen=True, slots=True)
class OpenTap:
    """A usable tap with its connection."""

    id: int
    name: str
    connection: Connection


class DbTaps:
    """Stores the taps. Passwords and URLs are sealed, and no answer, log or error shows them."""

    def __init__(
        self, settings: Settings, database: Database, secrets: SecretBox, clock: Callable[[], float] = time.time
    ) -> None:
        self.settings = settings
        self._database = database
        self._secrets = secrets
        self._clock = clock

    def list(self, page: Page, *, by: Caller) -> DbTapList:
        """Return a page of the account's taps, newest first."""
        require(by, Action.READ, Resource.DB_TAP)
        with self._database.connect() as connection:
            shown, paging_info = page.read(
                connection,
                sa.select(db_taps).where(db_taps.c.account_id == by.account_id).order_by(db_taps.c.id.desc()),
            )
        return DbTapList(db_taps=[_record(row) for row in shown], paging_info=paging_info)

    def get(self, tap_id: int, *, by: Caller) -> DbTap:
        """Return a tap. Raises `NotFound`."""
        require(by, Action.READ, Resource.DB_TAP)
        with self._database.connect() as connection:
            return _record(_row(connection, by.account_id, tap_id))

    def create(self, body: DbTapCreate, *, by: Caller) -> DbTap:
        """Store a new tap and return it, without connecting to the database.

        Raises `Invalid` for attributes that do not make a connection, and for another tap's name.
        """
        require(by, Action.CREATE, Resource.DB_TAP)
        values = self._values(body, {})
        with self._writing(by.account_id, body.name, apart_from=None) as connection:
            row = connection.execute(
                sa.insert(db_taps)
                .values(account_id=by.account_id, user_id=by.user_id, created_at=self._clock(), **values)
                .returning(db_taps)
            ).one()
            trail.record(connection, by, "create", Resource.DB_TAP, row.id, name=row.name, db_type=row.db_type)
        return _record(row)

    def update(self, tap_id: int, body: DbTapUpdate, *, by: Caller) -> DbTap:
        """Change the given attributes of a tap and return it; an empty text clears one.

        Raises `NotFound`, and `Invalid` if the result would not make a connection, or would send the stored password to
        another destination.
        """
        require(by, Action.UPDATE, Resource.DB_TAP)
        with self._database.connect() as connection:
            before = _values_of(_row(connection, by.account_id, tap_id))
        values = self._values(body, before)
        with self._writing(by.account_id, values["name"], apart_from=tap_id) as connection:
            row = connection.execute(
                sa.update(db_taps)
                .where(db_taps.c.id == tap_id, db_taps.c.account_id == by.account_id)
                .values(**values)
                .returning(db_taps)
            ).one_or_none()
            if row is None:
                raise _not_found(tap_id)
            changed = sorted(body.model_fields_set)
            trail.record(connection, by, "update", Resource.DB_TAP, tap_id, name=row.name, changed=changed)
        return _record(row)

    def delete(self, tap_id: int, *, by: Caller) -> None:
        """Delete a tap; its running queries continue. Raises `NotFound`."""
        require(by, Action.DELETE, Resource.DB_TAP)
        with self._database.begin() as connection:
            gone = connection.execute(
                sa.delete(db_taps).where(db_taps.c.id == tap_id, db_taps.c.account_id == by.account_id)
            )
            if not gone.rowcount:
                raise _not_found(tap_id)
            trail.record(connection, by, "delete", Resource.DB_TAP, tap_id)

    async def check_usable(self, account_id: int, tap_id: int) -> None:
        """Raise `NotFound` when there is no such tap, and `Invalid` when it is not active."""
        _check_active(await self._database.read(partial(_row, account_id=account_id, tap_id=tap_id)))

    async def identity(self, account_id: int, tap_id: int) -> str:
        """Return a text that changes when the tap is made anew or its connection is changed.

        Raises `NotFound`, and `Invalid` when it is not active.
        """
        row = await self._database.read(partial(_row, account_id=account_id, tap_id=tap_id))
        _check_active(row)
        parts = [row.id, row.created_at, *(row._mapping[name] for name in _PLAIN), row.sealed_url]  # sealed: no secret
        return hashlib.blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()

    async def opened(self, account_id: int, tap_id: int) -> OpenTap:
        """Return a tap with its connection, including secrets, for a worker only.

        Raises `NotFound`, and `Invalid` when it is not active or its target is not allowed (any more).
        """
        row = await self._database.read(partial(_row, account_id=account_id, tap_id=tap_id))
        _check_active(row)
        attributes = _attributes(_values_of(row), self._open(row.sealed_password), self._open(row.sealed_url))
        return OpenTap(row.id, row.name, connection_of(attributes, self.settings))

    def _values(self, body: DbTapCreate | DbTapUpdate, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of the tap after the body's changes, checked to make a connection."""
        given = body.model_dump(exclude_unset=bool(before))
        plain = {name: given[name] or None if name in given else before.get(name) for name in _PLAIN}
        stored = before.get("sealed_password")
        password = self._secret(body.db_passwd, stored)
        if plain["db_type"] in _WITHOUT_PASSWORD:
            stored = password = None  # it must not be found there later
        url = self._secret(body.url, before.get("sealed_url"))
        if plain["db_type"] != DbType.URL and body.url is None:
            url = None  # it belonged to the tap's former type
        active = bool(given["active"] if "active" in given else before["active"])
        connection_of(_attributes(plain, password, url), self.settings)
        if stored is not None and body.db_passwd is None:
            _check_destination(plain, before)
        return plain | {
            "active": active,
            "sealed_password": None if password is None else self._secrets.seal(password),
            "sealed_url": None if url is None else self._secrets.seal(url),
        }

    def _secret(self, given: SecretStr | None, sealed: str | None) -> str | None:
        return self._open(sealed) if given is None else given.get_secret_value() or None

    def _open(self, sealed: str | None) -> str | None:
        try:
            return None if sealed is None else self._secrets.open(sealed)
        except ValueError as error:
            raise Invalid(str(error)) from error

    @contextmanager
    def _writing(self, account_id: int, name: str, *, apart_from: int | None) -> Iterator[sa.Connection]:
        """Yield a write transaction that sets a tap's name, which is unique in its account."""
        same_name = sa.select(db_taps.c.id).where(db_taps.c.account_id == account_id, db_taps.c.name == name)
        if apart_from is not None:
            same_name = same_name.where(db_taps.c.id != apart_from)
        try:
            with self._database.begin() as connection:
                known = connection.execute(same_name).scalar()
                if known is not None:
                    raise Invalid(f"name: DB tap {known} is called {name} already")
                yield connection
        except IntegrityError as error:  # another call was faster
            raise Invalid(f"name: another DB tap is called {name} already") from error


def _check_destination(after: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Raise `Invalid` when a password that is not entered again would go to another destination."""
    changed = [name for name in _DESTINATION if after[name] != before[name]]
    if changed:
        raise Invalid(
            f"db_passwd: {' and '.join(changed)} changed: give the password again, or an empty one for none; the one "
            "that is stored was entered for another connection"
        )


def _row(connection: sa.Connection, account_id: int, tap_id: int) -> sa.Row[Any]:
    row = connection.execute(
        sa.select(db_taps).where(db_taps.c.id == tap_id, db_taps.c.account_id == account_id)
    ).one_or_none()
    if row is None:
        raise _not_found(tap_id)
    return row


def _not_found(tap_id: int) -> NotFound:
    return NotFound(f"there is no DB tap {tap_id} in this account")


def _check_active(row: sa.Row[Any]) -> None:
    if not row.active:
        raise Invalid(f"DB tap {row.id} ({row.name}) is not active; activate it with PUT db_taps/{row.id}")


def _values_of(row: sa.Row[Any]) -> dict[str, Any]:
    return {str(name): value for name, value in row._mapping.items()}


def _attributes(plain: Mapping[str, Any], password: str | None, url: str | None) -> TapAttributes:
    return TapAttributes(
        name=plain["name"],
        db_type=plain["db_type"],
        db_host=plain["db_host"],
        port=plain["port"],
        db_name=plain["db_name"],
        db_user=plain["db_user"],
        password=password,
        url=url,
    )


def _record(row: sa.Row[Any]) -> DbTap:
    return DbTap(
        **{name: row._mapping[name] for name in _PLAIN},
        id=row.id,
        active=row.active,
        account_id=row.account_id,
        user_id=row.user_id,
        created_at=iso_time(row.created_at),
    )
