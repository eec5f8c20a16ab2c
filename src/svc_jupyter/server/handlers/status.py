"""`status`: which service this server speaks to, as whom, and what is switched on there."""

from __future__ import annotations

from typing import Any

from svc_jupyter.client.errors import SvcError
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service


class StatusHandler(ServiceHandler):
    """The connection; an answer also when there is none, since a page must be able to say so."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with address and account, or with why there is none."""
        self.finish(await self._status())

    @asks_the_service
    async def post(self) -> None:
        """Read the settings anew, and answer as GET."""
        await self.connection.renew()
        self.finish(await self._status())

    async def _status(self) -> dict[str, Any]:
        status: dict[str, Any] = {"connected": False, "base_url": None, "source": None, "account": None}
        try:
            client = await self.connection.client()
            status |= {"base_url": client.settings.base_url, "source": client.settings.source}
            account = await client.account.get()
        except SvcError as error:
            return status | {"message": error.message}
        return status | {"connected": True, "account": account.model_dump(mode="json"), "message": None}


STATUS_HANDLERS = ((r"status", StatusHandler),)
