"""A client's knowledge of its service: the address, the credentials and the available extensions."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.address.embedded import EmbeddedService
from svc_jupyter.client.address.run import read_connection
from svc_jupyter.client.errors import ConfigurationError
from svc_jupyter.client.transport.retries import Retries


def _user_agent() -> str:
    try:
        return f"svc-jupyter/{version('svc-jupyter')}"
    except PackageNotFoundError:
        return "svc-jupyter"


@dataclass(frozen=True, slots=True)
class Connection:
    """An address and the headers of every call to it; the repr shows only the address."""

    base_url: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)

    @classmethod
    def to(cls, base_url: str, token: str) -> Connection:
        """Return the connection to an address with a token."""
        return cls(base_url, ((paths.TOKEN_HEADER, token), ("User-Agent", _user_agent()), ("Accept-Encoding", "gzip")))


class Link:
    """The state that all calls of one client share. Thread-safe."""

    def __init__(self, settings: Settings, retries: Retries) -> None:
        self.settings = settings
        self.retries = retries
        self.embedded: EmbeddedService | None = None
        self.connection: Connection | None = None
        self.known_fields: set[str] = set()
        """Extensions of submissions that the service is known to have."""
        self._extended: bool | None = None
        self._lock = threading.Lock()
        if settings.base_url is None:
            self.embedded = EmbeddedService(settings.data_dir)
        else:
            self.connection = Connection.to(settings.base_url, settings.token or "")

    @property
    def address(self) -> str:
        """The service's address for messages, known or not."""
        if self.connection is not None:
            return self.connection.base_url
        return f"the data folder {self.settings.data_dir}"

    @property
    def extended(self) -> bool:
        """Whether the service has the extensions: a command record showed it, or it is of this machine."""
        return self.may_move if self._extended is None else self._extended

    @property
    def of_run(self) -> bool:
        """Whether this is the service of a notebook run."""
        return self.settings.connection_file is not None

    @property
    def may_move(self) -> bool:
        """Whether the service is found by a file that it writes anew at each start."""
        return self.embedded is not None or self.of_run

    @property
    def honours_idempotency_keys(self) -> bool:
        """Whether a POST with an Idempotency-Key can be repeated without creating anything twice."""
        return self.extended

    def learn_from(self, record: CommandRecord) -> CommandRecord:
        """Note whether this record shows the extensions, and return the record.

        Only our service has the fields `throttled` and `attempts`; an `X-Trace-Id` header proves nothing.
        """
        if self._extended is None:
            self._extended = {"throttled", "attempts"} <= record.model_fields_set
        return record

    def locate(self) -> Connection:
        """Return the connection; the first call finds or starts the embedded service (blocks)."""
        connection = self.connection
        if connection is None:
            with self._lock:
                connection = self.connection or self._find()
        return connection

    def relocate(self, failed: Connection | None, *, start: bool) -> bool:
        """Look for a service that may move again after a failed call; return whether its address or token changed.

        With `start`, start an embedded service that is gone. Raises EmbeddedServiceFailed when the start fails.
        """
        with self._lock:
            if self.connection != failed:
                return True  # another thread has already relocated it
            if self.settings.connection_file is not None:
                return self._read_anew(self.settings.connection_file) != failed
            if self.embedded is None:
                return False
            found = self._find(unanswered=failed) if start else self._look_up()
            return found is not None and found != failed

    def _find(self, unanswered: Connection | None = None) -> Connection:
        assert self.embedded is not None
        service = self.embedded.find_or_start(unanswered=unanswered.base_url if unanswered else None)
        self.connection = Connection.to(service.base_url, self.settings.token or service.token)
        return self.connection

    def _read_anew(self, file: Path) -> Connection | None:
        """Return the connection as the file of the run says now; unchanged when the file is gone with the run."""
        with contextlib.suppress(ConfigurationError):
            now = read_connection(file)
            if now.token is not None:
                self.connection = Connection.to(now.base_url, now.token)
        return self.connection

    def _look_up(self) -> Connection | None:
        assert self.embedded is not None
        service = self.embedded.find()
        if service is not None:
            self.connection = Connection.to(service.base_url, self.settings.token or service.token)
        return self.connection
