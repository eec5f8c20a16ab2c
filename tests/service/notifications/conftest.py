"""A real mail server in the test's own loop, certificates, and commands that have ended."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives import serialization
from tests.service.notifications.certificates import certificate
from tests.service.notifications.clocks import NOON, Clock
from tests.service.notifications.hook_server import HookServer
from tests.service.notifications.mail_server import HOST, MailServer
from tests.service.notifications.rows import row_of
from tests.service.notifications.schedule_rows import schedule_row
from tests.support.ports import refusing_port

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications.channels import parse_target
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.notifications import channels
from svc_jupyter.service.schema.schedules import Schedule, schedules


@pytest.fixture
async def mail_server() -> AsyncIterator[MailServer]:
    """A mail server that the test starts."""
    server = MailServer()
    yield server
    await server.stop()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `ca.pem` and, signed by it, a server's `server.pem` with its key."""
    folder = tmp_path_factory.mktemp("certificates")
    authority_key, authority = certificate("Test authority")
    key, server = certificate("mail.test", signed_by=(authority_key, authority))
    (folder / "ca.pem").write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(server.public_bytes(serialization.Encoding.PEM) + private)
    return folder


@pytest.fixture
def server_context(certificates: Path) -> ssl.SSLContext:
    """The server's side of TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "server.pem")
    return context


@pytest.fixture
def trusted(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine trusts the test's authority, as an operator makes it trust a company's own."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))


@pytest.fixture
async def silent_port() -> AsyncIterator[int]:
    """The port of a server that takes connections and never says a word."""
    writers: list[asyncio.StreamWriter] = []

    async def take(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    server = await asyncio.start_server(take, HOST, 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    for writer in writers:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    await server.wait_closed()


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port on which nobody listens."""
    with refusing_port() as port:
        yield port


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def bus(database: Database) -> AsyncIterator[Bus]:
    bus = Bus(database)
    await bus.start()
    yield bus
    await bus.stop()


@pytest.fixture
def user_id(database: Database, account_id: int) -> int:
    """A user who reads their mail."""
    with database.begin() as connection:
        return connection.execute(
            sa.insert(users)
            .values(account_id=account_id, email="ada@example.org", name="ada", enabled=True, created_at=NOON)
            .returning(users.c.id)
        ).scalar_one()


@pytest.fixture
def ended_command(database: Database, account_id: int, user_id: int) -> Callable[..., dict[str, Any]]:
    """Stores a command that has ended and returns its row."""

    def ended_command(**values: Any) -> dict[str, Any]:
        row = row_of(account_id=account_id, user_id=user_id, **values)
        with database.begin() as connection:
            return dict(connection.execute(sa.insert(commands).values(**row).returning(commands)).mappings().one())

    return ended_command


@pytest.fixture
def mail_settings(settings: Settings, mail_server: MailServer) -> Callable[..., Settings]:
    """Returns the settings that name the mail server."""

    def mail_settings(**changes: Any) -> Settings:
        values = {"smtp_host": HOST, "smtp_port": mail_server.port, "smtp_security": "none"}
        return settings.model_copy(update=values | changes)

    return mail_settings


@pytest.fixture
def secrets(settings: Settings) -> SecretBox:
    return SecretBox(settings.data_dir / "secret.key")


@pytest.fixture
async def running(
    database: Database, bus: Bus, secrets: SecretBox, clock: Clock
) -> AsyncIterator[Callable[..., Awaitable[Notifications]]]:
    """Starts notifications with settings; they are stopped at the end."""
    started: list[Notifications] = []

    async def running(settings: Settings, *, on: Database | None = None, over: Bus | None = None) -> Notifications:
        notifications = Notifications(settings, on or database, over or bus, secrets, clock)
        await notifications.start()
        started.append(notifications)
        return notifications

    yield running
    for notifications in started:
        await notifications.stop()


@pytest.fixture
def hook_server() -> Iterator[HookServer]:
    """An HTTP server that takes webhooks; it listens already."""
    server = HookServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def hook_settings(settings: Settings) -> Settings:
    """Settings of a service without a mail server, whose webhooks may go to this machine."""
    return settings.model_copy(update={"webhook_private_addresses": True})


@pytest.fixture
def add_channel(database: Database, account_id: int, user_id: int, secrets: SecretBox) -> Callable[..., int]:
    """Stores a channel and returns its id."""

    def add_channel(target: str, name: str | None = None, account_id: int = account_id) -> int:
        kind = ChannelType.WEBHOOK if "://" in target else ChannelType.EMAIL
        parsed = parse_target(kind, target)
        values = {
            "account_id": account_id,
            "user_id": user_id,
            "name": name or target[:40],
            "type": kind.value,
            "target": parsed.shown,
            "sealed_url": None if parsed.url is None else secrets.seal(parsed.url),
            "created_at": NOON,
        }
        with database.begin() as connection:
            return connection.execute(sa.insert(channels).values(**values).returning(channels.c.id)).scalar_one()

    return add_channel


@pytest.fixture
def add_schedule(database: Database, account_id: int, user_id: int) -> Callable[..., Schedule]:
    """Stores a schedule of the user and returns it."""

    def add_schedule(**changes: Any) -> Schedule:
        values = asdict(schedule_row(account_id=account_id, user_id=user_id, **changes))
        with database.begin() as connection:
            return Schedule.of(connection.execute(sa.insert(schedules).values(**values).returning(schedules)).one())

    return add_schedule
