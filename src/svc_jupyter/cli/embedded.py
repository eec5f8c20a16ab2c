"""The embedded service for the command line: the one of the data folder, regardless of the configured service."""

from __future__ import annotations

import os

from svc_jupyter.client import Client, Settings
from svc_jupyter.client.address.config import DEFAULT_PROFILE, EMBEDDED, data_folder
from svc_jupyter.client.address.embedded import EmbeddedService


def embedded_service() -> EmbeddedService:
    """Return the service of `SVC_DATA_DIR` or the platform's data folder, running or not."""
    return EmbeddedService(data_folder(os.environ))


def embedded_client() -> Client:
    """Return a client of the embedded service; its first call starts the service if needed."""
    return Client(config=Settings(None, None, EMBEDDED, DEFAULT_PROFILE, data_folder(os.environ)))


def where_it_stands(service: EmbeddedService) -> str:
    """Return a sentence that the service of a data folder does not run, or why it cannot be called."""
    database = service.postgresql()
    belongs = "" if database is None else f", which belongs to the PostgreSQL database {database}"
    if service.is_held():
        return (
            f"a service works on the data folder {service.data_dir}{belongs}, but has no address here: it is just "
            "starting or stopping, or a replica whose announced one has ended"
        )
    how = "the first use starts it" if database is None else "start it with SVC_DATABASE_URL set to that database"
    return f"not running (data folder {service.data_dir}{belongs}); {how}"
