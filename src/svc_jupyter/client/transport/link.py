"""What a client knows of its service: where it is, as whom it speaks, and which extensions the service has."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.address.embedded import EmbeddedService
from svc_jupyter.client.transport.retries import Retries


def _user_agent() -> str:
    try:
        return f"svc-jupyter/{version('svc-jupyter')}"
    except PackageNotFoundError:
        return "svc-jupyter"


@dataclass(frozen=True, slots=True)
class Connection:
    """An address and the headers that every call to it carries; the repr shows the address only."""

    base_url: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)

    @classmethod
    def to(cls, base_url: str, token: str) -> Connection:
        """Return the connection to an address with a token."""
        return cls(base_url, ((paths.TOKEN_HEADER, token), ("User-Agent", _user_agent()), ("Accept-Encoding", "gzip")))


class Link:
    """The state that all calls of one client share. Safe to use from several threads."""

    def __init__(self, settings: Settings, retries: Retries) -> None:
        self.settings = settings
        self.retries = retries
        self.embedded: EmbeddedService | None = None
        self.connection: Connection | None = None
        self._extended: bool | None = None
        self._lock = threading.Lock()
        if settings.base_url is None:
            self.embedded = EmbeddedService(settings.data_dir)
        else:
            self.connection = Connection.to(settings.base_url, settings.token or "")

    @property
    def address(self) -> str:
        """The service's address for people, known or not yet."""
        if self.connection is not None:
            return self.connection.base_url
        return f"the data folder {self.settings.data_dir}"

    @property
    def extended(self) -> bool:
        """Whether the service has the extensions: it said so in a command record, or it is the embedded one."""
        return self.embedded is not None if self._extended is None else self._extended

    @property
    def honours_idempotency_keys(self) -> bool:
        """Whether a POST that carries an Idempotency-Key can be repeated and creates nothing twice."""
        return self.extended

    def learn_from(self, record: CommandRecord) -> CommandRecord:
        """Note whether the service that wrote this record has the extensions, and return the record.

        `throttled` and `attempts` are fields that no other service has; an `X-Trace-Id` header proves nothing.
        """
        if self._extended is None:
            self._extended = {"throttled", "attempts"} <= record.model_fields_set
        return record

    def locate(self) -> Connection:
        """Return the connection; the first time with the embedded service this finds or starts it (blocks)."""
        connection = self.connection
        if connection is None:
            with self._lock:
                connection = self.connection or self._find()
        return connection

    def relocate(self, failed: Connection | None, *, start: bool) -> bool:
        """Look for the embedded service again after a failed call; return whether it is to be called differently.

        With `start` a service that is gone is started. Raises EmbeddedServiceFailed when it does not come.
        """
        with self._lock:
            if self.connection != failed:
                return True  # another thread has been here meanwhile
            if self.embedded is None:
                return False
            found = self._find(unanswered=failed) if start else self._look_up()
            return found is not None and found != failed

    def _find(self, unanswered: Connection | None = None) -> Connection:
        assert self.embedded is not None
        service = self.embedded.find_or_start(unanswered=unanswered.base_url if unanswered else None)
        self.connection = Connection.to(service.base_url, self.settings.token or service.token)
        return self.connection

    def _look_up(self) -> Connection | None:
        assert self.embedded is not None
        service = self.embedded.find()
        if service is not None:
            self.connection = Connection.to(service.base_url, self.settings.token or service.token)
        return self.connection
