"""`status`: the connected service, the user, and the enabled features."""

from __future__ import annotations

from typing import Any

from tornado.web import HTTPError

from svc_jupyter.client.errors import StatusError, SvcError
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service


class StatusHandler(ServiceHandler):
    """The connection; it answers even without one, so that a page can say so."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with address and account; without a connection with the reason, and the `status` of a refusal.

        `fixed_by` is the setting that fixes the address, so that no other can be entered; null without one.
        """
        self.finish(await self._status())

    @asks_the_service
    async def post(self) -> None:
        """Read the settings again, and answer as GET."""
        await self.connection.renew()
        self.finish(await self._status())

    @asks_the_service
    async def put(self) -> None:
        """Connect to another service: `{base_url, token}`, stored in the profile file, or `{"embedded": true}`.

        Answers as GET. The new service is called first: if it refuses, the refusal is returned and nothing changes.
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
        status: dict[str, Any] = {"connected": False, "fixed_by": self.connection.fixed_by()}
        status |= dict.fromkeys(("base_url", "source", "token_source", "account"))
        try:
            client = await self.connection.client()
            settings = client.settings
            status |= {name: getattr(settings, name) for name in ("base_url", "source", "token_source")}
            account = await client.account.get()
        except SvcError as error:
            answered = {"status": error.status} if isinstance(error, StatusError) else {}
            return status | answered | {"message": error.message}
        return status | {"connected": True, "account": account.model_dump(mode="json"), "message": None}


STATUS_HANDLERS = ((r"status", StatusHandler),)
