"""Check connections: the configured or embedded service, the service's database, its mail server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.cli.checks.finding import Finding, fine, note, wrong
from svc_jupyter.cli.embedded import where_it_stands
from svc_jupyter.client import Client, Retries, SvcError
from svc_jupyter.client.address.config import Settings as ClientSettings
from svc_jupyter.client.address.embedded import EmbeddedService

if TYPE_CHECKING:
    from svc_jupyter.service.ground.settings import Settings

_ANSWER_SECONDS = 5


def check_service(settings: ClientSettings) -> Finding:
    """Return whether the service that a notebook would use answers; does not start it."""
    if settings.base_url is not None:
        where = f"{settings.base_url} (from {settings.source})"
        return _ask(Client(config=settings, retries=Retries(attempts=1), timeout=_ANSWER_SECONDS), where)
    service = EmbeddedService(settings.data_dir)
    try:
        found = service.find()
    except SvcError as error:
        return wrong("service", error.message, "set SVC_DATA_DIR to a folder of your own")
    if found is None and (service.is_held() or service.postgresql() is not None):
        return note("service", where_it_stands(service), "set SVC_BASE_URL and SVC_API_TOKEN to those of the service")
    if found is None:
        return fine("service", "not running; the first use of a magic starts it")
    client = Client(found.base_url, found.token, retries=Retries(attempts=1), timeout=_ANSWER_SECONDS)
    where = f"{found.base_url}, process {found.pid}, version {found.version}"
    return _ask(client, where, f"look at {service.log}; `svc-jupyter stop` and the next use starts it anew")


def check_demo(data_dir: Path) -> Finding:
    """Return whether the public data of the quick start is loaded."""
    if (data_dir / "storage" / "flights" / "manifest.json").is_file():
        return fine("demo data", f"in {data_dir / 'storage' / 'flights'}")
    return note("demo data", "not loaded", "svc-jupyter init --demo")


def check_settings(settings: Settings) -> Iterator[Finding]:
    """Yield whether the database and the mail server of the service's settings answer."""
    yield _database(settings)
    yield _mail(settings)


def _ask(client: Client, where: str, fix: str = "check the address and the token") -> Finding:
    try:
        with client:
            account = client.account.get()
    except SvcError as error:
        return wrong("service", f"{where}: {error.message}", fix)
    return fine("service", f"{where}, as {account.email} ({', '.join(account.groups) or 'no group'})")


def _database(settings: Settings) -> Finding:
    if settings.on_sqlite:
        return fine("database", "SQLite in the data folder")
    import sqlalchemy as sa
    from sqlalchemy.exc import SQLAlchemyError

    fix = "check SVC_DATABASE_URL, and whether the database takes connections from here"
    try:
        engine = sa.create_engine(settings.sqlalchemy_url, connect_args={"connect_timeout": _ANSWER_SECONDS})
    except (SQLAlchemyError, ModuleNotFoundError):
        return wrong("database", "SVC_DATABASE_URL is not an address of a PostgreSQL database", fix)
    where = engine.url.render_as_string(hide_password=True)
    try:
        with engine.connect() as connection:
            product = connection.execute(sa.text("SHOW server_version")).scalar()
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
        password = engine.url.password
        return wrong("database", f"{where}: {reason.replace(password, '***') if password else reason}", fix)
    finally:
        engine.dispose()
    return fine("database", f"{where}, PostgreSQL {product}")


def _mail(settings: Settings) -> Finding:
    if settings.smtp_host is None:
        fix = "set SVC_SMTP_HOST (and SVC_SMTP_PORT, _SECURITY, _USER, _PASSWORD, _SENDER)"
        return note("e-mail", "no mail server is set: can_notify is recorded, nothing is sent", fix)
    where = f"{settings.smtp_host}:{settings.smtp_port} ({settings.smtp_security})"
    try:
        with socket.create_connection((settings.smtp_host, settings.smtp_port), timeout=_ANSWER_SECONDS):
            pass
    except OSError as error:
        return wrong("e-mail", f"{where}: {error.strerror or error}", "check SVC_SMTP_HOST and SVC_SMTP_PORT")
    return fine("e-mail", f"{where} takes connections")
