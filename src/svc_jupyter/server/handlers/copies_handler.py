"""The base of handlers whose requests may leave a copy of a notebook unused."""

from __future__ import annotations

from svc_jupyter.client.errors import SvcError
from svc_jupyter.server.copy_keeper import COPIES, CopyKeeper
from svc_jupyter.server.handlers.service_handler import ServiceHandler


class CopiesHandler(ServiceHandler):
    """Base of the handlers that store copies of notebooks or change what runs them."""

    @property
    def copies(self) -> CopyKeeper:
        """The copies of this server."""
        copies: CopyKeeper = self.settings[COPIES]
        return copies

    async def remove_unused_copies(self) -> None:
        """Remove unused copies. Runs after the answer, which does not wait for it."""
        try:
            await self.copies.remove_unused()
        except SvcError as error:
            self.log.warning(
                "copies of notebooks that no schedule runs any more stay in the service (%s); they are removed after "
                "the next change of a schedule",
                error.message,
            )
