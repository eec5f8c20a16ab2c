"""`format`: SQL in a readable layout."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado.web import HTTPError, authenticated

from svc_jupyter.server.handlers.service_handler import ServiceHandler
from svc_jupyter.sql_format import NotFormatted, formatted_cell


class FormatHandler(ServiceHandler):
    """The SQL of a cell; no service is asked."""

    @authenticated
    @authorized
    async def post(self) -> None:
        """Answer `{source}` with the `source` in a readable layout, and a `note` on what stays as written, or null."""
        source = self.body.get("source")
        if not isinstance(source, str):
            raise HTTPError(422, "source: must be a text")
        try:
            found = await asyncio.to_thread(formatted_cell, source)
        except NotFormatted as refusal:
            raise HTTPError(422, str(refusal)) from None
        self.finish({"source": found.text, "note": found.note})


FORMAT_HANDLERS = ((r"format", FormatHandler),)
