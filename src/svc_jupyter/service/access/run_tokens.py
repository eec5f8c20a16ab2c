"""Tokens of notebook runs: each is of the user in whose name the command runs, and valid only while it runs.

A run may do less than its user: at most what `system-user` gives, and nothing that would make another token, give
rights, or run something later (`Caller.in_run`, `permissions.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import sqlalchemy as sa

from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.fields import DEFAULT_TIMEOUT_SECONDS
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.access.tokens import TOPIC, Tokens, insert_token
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.schema.access import tokens
from svc_jupyter.service.schema.commands import commands

_TWO_USERS = (
    "another user last edited what its schedule runs, and a token can have the rights of one user only. Let the "
    "schedule's owner send its command again"
)
_CHECKS = 2
"""Checks of timeouts by which the token may outlive the command's timeout."""


class EndedCommand(Protocol):
    """What is known of a command that has ended."""

    @property
    def id(self) -> int:
        """The command's id."""

    @property
    def command_type(self) -> str:
        """Its type."""


class RunTokens:
    """Makes the tokens of runs and ends them."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        access: Tokens,
        timeout_check_seconds: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._bus = bus
        self._access = access
        self._check_seconds = timeout_check_seconds
        self._clock = clock

    def create(self, command_id: int) -> str:
        """Return a new token for a running command; one that it had before is refused from now on.

        Raises `Forbidden` for a command of two users: none of them must act with the rights of the other.
        """
        now = self._clock()
        with self._access.changing_access() as connection:
            row = _running(connection, command_id)
            if row is None:
                raise Forbidden(f"command {command_id} does not run")
            if row.edited_by not in (None, row.user_id):
                raise Forbidden(_TWO_USERS)
            connection.execute(sa.delete(tokens).where(tokens.c.command_id == command_id))
            timeout = row.timeout or DEFAULT_TIMEOUT_SECONDS
            _, secret = insert_token(
                connection,
                row.user_id,
                f"run of command {command_id}",
                now,
                row.start_time + timeout + _CHECKS * self._check_seconds,
                command_id=command_id,
            )
        return secret

    def end(self, command_id: int) -> None:
        """Refuse the token of a command's attempt from now on."""
        with self._access.changing_access() as connection:
            connection.execute(sa.delete(tokens).where(tokens.c.command_id == command_id))

    def on_command_end(self, connection: sa.Connection, row: EndedCommand) -> None:
        """Delete the token of an ended command, however it ended, in the transaction that ends it."""
        if row.command_type != CommandType.JUPYTER_NOTEBOOK:
            return
        if connection.execute(sa.delete(tokens).where(tokens.c.command_id == row.id)).rowcount:
            self._bus.publish(connection, TOPIC)


def _running(connection: sa.Connection, command_id: int) -> sa.Row[Any] | None:
    c = commands.c
    query: sa.Select[Any] = sa.select(c.user_id, c.edited_by, c.start_time, c.timeout).where(
        c.id == command_id, c.status == CommandStatus.RUNNING
    )
    return connection.execute(query).first()
