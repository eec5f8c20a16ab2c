"""`status`: which service this server speaks to, as whom, and what is switched on there."""

from __future__ import annotations

from typing import Any

from tornado.web import HTTPError

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

    @asks_the_service
    async def put(self) -> None:
        """Speak to another service: `{base_url, token}`, kept in the profile file, or `{"embedded": true}`.

        Answers as GET. What was entered is asked first: a service that refuses it is told, and nothing has changed.
        """
        if self.body.get("embedded") is True:
            await self.connection.use_this_machine()
        else:
            await self.connection.use(self._text("base_url"), self._text("token"))
        self.finish(await self._status())

    def _text(self, name: str) -> str:
        value = self.body.get(name)
        if not isinstance(value, str) or not value.strip():
            raise HTTPError(422, f"{name}: must be a text that is not empty")
        return value.strip()

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
