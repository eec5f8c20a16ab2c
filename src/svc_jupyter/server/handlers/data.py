"""`db_taps`, `hive`, `hive_catalogue`: taps, and the schemas, tables and columns of their databases and of Hive."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import quote

from svc_jupyter.api import paths
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service

_LONGEST_WAIT = 30.0
"""Seconds that the service waits for a first reading at most."""


class DataHandler(ServiceHandler):
    """Base of the handlers of tables; names in queries are passed on to the letter."""

    async def pass_on_get(self, path: str) -> None:
        """Answer with the service's answer; a catalogue that is just being read may take `wait` seconds more."""
        query = {name: self.get_query_argument(name, strip=False) for name in self.request.query_arguments}
        wait = 0.0
        with suppress(ValueError):
            wait = min(max(float(query.get("wait", 0)), 0.0), _LONGEST_WAIT)
        await self.pass_on(Call("GET", paths.api(path), query, hold=wait))


class TapsHandler(DataHandler):
    """All taps."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with a page of taps; the service shows no password and no URL."""
        await self.pass_on_get("db_taps")

    @asks_the_service
    async def post(self) -> None:
        """Create a tap; its password or URL goes to the service and is kept nowhere here."""
        await self.pass_on(Call("POST", paths.api("db_taps"), body=self.body))


class TapHandler(DataHandler):
    """One tap."""

    @asks_the_service
    async def get(self, tap_id: str) -> None:
        """Answer with the record."""
        await self.pass_on_get(f"db_taps/{tap_id}")

    @asks_the_service
    async def put(self, tap_id: str) -> None:
        """Change some of its attributes."""
        await self.pass_on(Call("PUT", paths.api(f"db_taps/{tap_id}"), body=self.body))

    @asks_the_service
    async def delete(self, tap_id: str) -> None:
        """Delete it; its database stays as it is."""
        await self.pass_on(Call("DELETE", paths.api(f"db_taps/{tap_id}")))


class TapPartHandler(DataHandler):
    """What a tap's database holds."""

    @asks_the_service
    async def get(self, tap_id: str, part: str) -> None:
        """Answer with its catalogue, a part of it, or with the tables as the database lists them now."""
        await self.pass_on_get(f"db_taps/{tap_id}/{part}")


class HiveCatalogueHandler(DataHandler):
    """What Hive holds, as the service last read it."""

    @asks_the_service
    async def get(self, part: str = "") -> None:
        """Answer with Hive's catalogue, or a part of it."""
        await self.pass_on_get(f"hive_catalogue{part and f'/{part}'}")


class HiveHandler(DataHandler):
    """Hive's schemas."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with a page of schemas."""
        await self.pass_on_get("hive")


class HiveSchemaHandler(DataHandler):
    """The tables of a schema."""

    @asks_the_service
    async def get(self, schema: str) -> None:
        """Answer with a page of tables."""
        await self.pass_on_get(f"hive/{quote(schema, safe='')}")


class HiveTableHandler(DataHandler):
    """The columns of a table."""

    @asks_the_service
    async def get(self, schema: str, table: str) -> None:
        """Answer with the table's definition."""
        await self.pass_on_get(f"hive/{quote(schema, safe='')}/{quote(table, safe='')}")


_TAP = r"db_taps/([0-9]{1,18})"
DATA_HANDLERS = (
    (r"db_taps", TapsHandler),
    (_TAP, TapHandler),
    (rf"{_TAP}/(tables|catalogue|catalogue/tables|catalogue/columns)", TapPartHandler),
    (r"hive_catalogue", HiveCatalogueHandler),
    (r"hive_catalogue/(tables|columns)", HiveCatalogueHandler),
    (r"hive", HiveHandler),
    (r"hive/([^/]+)", HiveSchemaHandler),
    (r"hive/([^/]+)/([^/]+)", HiveTableHandler),
)
