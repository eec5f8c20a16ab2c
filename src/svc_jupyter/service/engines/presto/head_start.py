"""Statements that are posted to a coordinator while the rows of their commands are still on their way to the disk.

A coordinator only keeps a statement that is posted: it begins with it when its first answer is asked for. So a command
that is not written after all has done nothing, and what was posted for it is forgotten by the coordinator by itself.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from svc_jupyter.service.db_taps.engines.presto.client import CoordinatorLost, StatementClient, Target
from svc_jupyter.service.db_taps.job import Dialect
from svc_jupyter.service.db_taps.statements import split

_SHORT: Final = 4096
"""Characters of a script whose first statement is looked for here; a longer one takes its time anyway."""
_SECONDS: Final = 1.0
"""A coordinator that takes longer is left to the worker, which is patient."""
_MOST: Final = 64
"""So many may lie here: those of commands that never began are never asked for."""
_FILE: Final = "posted.json"


@dataclass(frozen=True, slots=True)
class HeadStart:
    """A statement that the coordinator may have begun with, and its answer, as JSON, by which one goes on with it."""

    target: Target
    answer: str

    @classmethod
    def written(cls, folder: Path) -> HeadStart | None:
        """Return what lies in the folder of an attempt, None where nothing was begun."""
        try:
            target, answer = json.loads((folder / _FILE).read_text("utf-8"))
        except FileNotFoundError:
            return None
        return cls(Target.from_json(target), answer)

    def write(self, folder: Path) -> None:
        """Write it into the folder of an attempt."""
        draft = folder / f"{_FILE}.part"
        draft.write_text(json.dumps([self.target.to_json(), self.answer]), "utf-8")
        draft.rename(folder / _FILE)


class HeadStarts:
    """The statements that were posted ahead, by the ids of their commands."""

    def __init__(self) -> None:
        self._posted: OrderedDict[int, Future[_Posted | None]] = OrderedDict()
        self._begun: set[Future[_Posted | None]] = set()
        self._turn = threading.Lock()
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="presto-post")

    def post(self, command_id: int, target: Target, script: str) -> None:
        """Begin to post a script's first statement; from any thread. Raises nothing, whatever becomes of it."""
        if len(script) > _SHORT:
            return
        with self._turn, suppress(RuntimeError):  # closed
            posting = self._threads.submit(_posted, target, script)
            if (other := self._posted.pop(command_id, None)) is not None:
                other.add_done_callback(_let_go)
            self._posted[command_id] = posting
            if len(self._posted) > _MOST:
                self._posted.popitem(last=False)[1].add_done_callback(_let_go)

    async def begin(self, command_id: int, target: Target, script: str, folder: Path) -> HeadStart | None:
        """Let the coordinator begin with what was posted for a command; None unless that is this script, there.

        It is written into the folder first: whoever asks again gets the same, and nothing begins twice.
        """
        with self._turn:
            posting = self._posted.pop(command_id, None)
        if posting is None:
            return None
        self._begun.add(posting)
        asyncio.get_running_loop().call_later(_SECONDS, self._forget, posting)
        try:
            posted = await _within(_SECONDS, posting)
            if posted is None or (posted.target, posted.script) != (target, script):
                return None
            head_start = HeadStart(target, json.dumps(posted.answer))
            head_start.write(folder)
            posted.begin()
        except (CoordinatorLost, TimeoutError):
            return None
        return head_start

    def close(self) -> None:
        """Post nothing any more; what was begun goes on."""
        self._threads.shutdown(wait=False)
        for posting in (*self._posted.values(), *self._begun):
            posting.add_done_callback(_let_go)

    def _forget(self, posting: Future[_Posted | None]) -> None:
        self._begun.discard(posting)
        posting.add_done_callback(_let_go)


@dataclass(frozen=True, slots=True)
class _Posted:
    """A statement that the coordinator has, over a connection that is still open."""

    target: Target
    script: str
    answer: Mapping[str, Any]
    client: StatementClient

    def begin(self) -> None:
        """Ask for the first answer; the worker asks for it again, and is the one who reads it."""
        if (uri := self.answer.get("nextUri")) is not None:
            self.client.ask_ahead(uri)


def _posted(target: Target, script: str) -> _Posted | None:
    statements = split(script, Dialect.PRESTO)
    if not statements:
        return None
    client = StatementClient(target.coordinator, target.session(), _connected, patience=0)
    try:
        return _Posted(target, script, client.post(statements[0].text), client)
    except CoordinatorLost:
        client.close()
        raise


async def _within(seconds: float, posting: Future[_Posted | None]) -> _Posted | None:
    if posting.done():
        return posting.result()
    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(posting)), seconds)


def _let_go(posting: Future[_Posted | None]) -> None:
    """Close the connection of a statement that was posted."""
    if posting.exception() is None and (posted := posting.result()) is not None:
        posted.client.close()


def _connected(host: str, port: int) -> HTTPConnection:
    connection = HTTPConnection(host, port, timeout=_SECONDS)
    connection.connect()
    return connection
