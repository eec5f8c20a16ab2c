"""`notes` and `dashboards`: the items of folders."""

from __future__ import annotations

from svc_jupyter.api import paths
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service


class NoteHandler(ServiceHandler):
    """One note."""

    @asks_the_service
    async def put(self, note_id: str) -> None:
        """Rename or move it: `{name}`, `{location}`."""
        await self.pass_on(Call("PUT", paths.api(f"notebooks/{int(note_id)}"), body=self.body))

    @asks_the_service
    async def delete(self, note_id: str) -> None:
        """Delete it and its dashboards."""
        await self.pass_on(Call("DELETE", paths.api(f"notebooks/{int(note_id)}")))


class DashboardHandler(ServiceHandler):
    """One dashboard."""

    @asks_the_service
    async def put(self, dashboard_id: str) -> None:
        """Rename or move it: `{name}`, `{location}`."""
        await self.pass_on(Call("PUT", _dashboard(dashboard_id), body=self.body))

    @asks_the_service
    async def delete(self, dashboard_id: str) -> None:
        """Delete it."""
        await self.pass_on(Call("DELETE", _dashboard(dashboard_id)))


def _dashboard(dashboard_id: str) -> str:
    return paths.api(f"notebook_dashboard/{int(dashboard_id)}")


_ID = r"([0-9]{1,18})"
NOTE_HANDLERS = (
    (rf"notes/{_ID}", NoteHandler),
    (rf"dashboards/{_ID}", DashboardHandler),
)
