"""`check`: what is wrong with the SQL of a cell before it runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.api.catalogues import CHECKED_LIMIT
from svc_jupyter.client.errors import NotFound, NotUnique
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service
from svc_jupyter.sql_cells import Section, sections

_ON_HIVE = {"svc_hive": "hive", "svc_presto": "presto", "svc_sql": "spark"}


class CheckHandler(ServiceHandler):
    """The SQL of a cell, which the service compares with what it has read of the database."""

    @asks_the_service
    async def post(self) -> None:
        """Answer `{problems: [{start, end, message, did_you_mean}]}` for the `source` of a cell.

        `start` and `end` count the UTF-16 units of the cell, as pages do. `default_tap` is the tap of a cell that names
        none; without one it is the only tap. Nothing is said of a tap that is not found, nor by a service that checks
        nothing. None is started for it.
        """
        source, default_tap = self.body.get("source"), self.body.get("default_tap")
        if not isinstance(source, str) or not isinstance(default_tap, (str, type(None))):
            raise HTTPError(422, "source must be a text, and default_tap the name of a tap or null")
        found: list[dict[str, Any]] = []
        parts = sections(source) if await self.connection.needs_no_start() else ()
        for section in parts:
            if section.body.strip() and len(section.body) <= CHECKED_LIMIT:
                for problem in await self._problems(section, default_tap):
                    start, end = (_units(source[: section.start + problem[edge]]) for edge in ("start", "end"))
                    found.append({**problem, "start": start, "end": end})
        self.finish({"problems": found})

    async def _problems(self, section: Section, default_tap: str | None) -> list[dict[str, Any]]:
        body = {"query": section.body}
        try:
            if section.magic == "svc_db":
                path = f"db_taps/{await self._tap(_tap_named(section.options) or default_tap)}/check"
            elif section.magic in _ON_HIVE:
                path = "hive_catalogue/check"
                body["dialect"] = _ON_HIVE[section.magic]
            else:
                return []
            answer = await self.connection.answer(Call("POST", paths.api(path), body=body))
        except (NotFound, NotUnique):
            return []
        problems: list[dict[str, Any]] = answer.json()["problems"]
        return problems

    async def _tap(self, name: str | None) -> int:
        """Return the id of a tap, or of the only one. Raises `NotFound` or `NotUnique`."""
        taps = (await self.connection.client()).db_taps
        if name is not None:
            return (await taps.find(name)).id
        found = [tap.id async for tap in taps.iter()]
        if len(found) != 1:
            raise NotFound("there is not one tap", status=404)
        return found[0]


def _tap_named(options: str) -> str | None:
    """Return the value of `--tap`; None without one, and while a quote is open."""
    try:
        words = shlex.split(options)
    except ValueError:
        return None
    apart: Iterator[str] = (value for option, value in pairwise(words) if option == "--tap")
    joined = (word.removeprefix("--tap=") for word in words if word.startswith("--tap="))
    return next(apart, None) or next(joined, None)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


CHECK_HANDLERS = ((r"check", CheckHandler),)
