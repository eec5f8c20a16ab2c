"""Statements posted to a coordinator while the rows of their commands are still being written.

A coordinator only stores a posted statement: it starts it when its first answer is requested. A statement that only
reads is started at once, and cancelled if its command is not written; any other one is started once its command is
written. So a command that is not written has changed nothing.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from svc_jupyter.files import write_whole
from svc_jupyter.service.db_taps.statements import NotSeparable, split
from svc_jupyter.service.kinds.presto.client import READING, CoordinatorLost, StatementClient, Target, connector
from svc_jupyter.sql_tokens import Dialect

_SHORT: Final = 4096
"""Limit of a script's characters for a head start; a longer one takes its time anyway."""
_SECONDS: Final = 1.0
"""A slower coordinator is left to the worker, which is patient."""
_FRESH_SECONDS: Final = 10.0
"""How long a posted statement can be used; a coordinator forgets one without requests after minutes."""
_MOST: Final = 64
_FILE: Final = "posted.json"


@dataclass(frozen=True, slots=True)
class HeadStart:
    """A statement that the coordinator may have started, and its answer as JSON, from which a client continues.

    The target that was written has no password.
    """

    target: Target
    answer: str

    @classmethod
    def written(cls, folder: Path) -> HeadStart | None:
        """Return the head start in an attempt's folder, None where nothing was started."""
        try:
            target, answer = json.loads((folder / _FILE).read_text("utf-8"))
        except FileNotFoundError:
            return None
        return cls(Target.from_json(target), answer)

    def write(self, folder: Path) -> None:
        """Write it into the folder of an attempt, without a password."""
        write_whole(folder / _FILE, json.dumps([self.target.without_password().to_json(), self.answer]))


class HeadStarts:
    """The statements posted ahead, by the ids of their commands."""

    def __init__(self) -> None:
        self._posted: OrderedDict[int, _Posting] = OrderedDict()
        self._taken: set[_Posting] = set()
        self._turn = threading.Lock()
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="presto-post")

    def post(self, command_id: int, target: Target, script: str) -> None:
        """Start to post a script's first statement; from any thread. Never raises."""
        if len(script) > _SHORT:
            return
        with self._turn, suppress(RuntimeError):  # closed
            if (other := self._posted.pop(command_id, None)) is not None:
                self._threads.submit(_end, other)
            self._posted[command_id] = self._threads.submit(_posted, target, script)
            if len(self._posted) > _MOST:
                self._threads.submit(_end, self._posted.popitem(last=False)[1])

    def drop(self, command_id: int) -> None:
        """Discard the statement of a command that was not written; from any thread."""
        with self._turn:
            posting = self._posted.pop(command_id, None)
        if posting is not None:
            self._let_go(posting)

    async def begin(self, command_id: int, target: Target, script: str, folder: Path) -> HeadStart | None:
        """Start the statement posted for a command; None unless it is this script's, and arrived.

        Writes it into the folder first, so that a repeated attempt gets the same one and nothing starts twice.
        """
        with self._turn:
            posting = self._posted.pop(command_id, None)
        if posting is None:
            return None
        is_taken = False
        try:
            posted = await _within(_SECONDS, posting)
            if posted is None or not posted.is_for(target, script):
                return None
            head_start = HeadStart(target, json.dumps(posted.answer))
            head_start.write(folder)
            posted.begin()
            is_taken = True
        except (CoordinatorLost, TimeoutError):
            return None
        finally:
            if not is_taken:
                self._let_go(posting)
        self._taken.add(posting)
        asyncio.get_running_loop().call_later(_SECONDS, self._close, posting)
        return head_start

    def close(self) -> None:
        """Post nothing any more; statements in use by commands continue."""
        with self._turn:
            for posting in self._posted.values():
                self._threads.submit(_end, posting)
            self._posted.clear()
        self._threads.shutdown(wait=False)
        for posting in list(self._taken):
            self._close(posting)

    def _let_go(self, posting: _Posting) -> None:
        """End a statement that no command will use."""
        with suppress(RuntimeError):  # closed
            self._threads.submit(_end, posting)

    def _close(self, posting: _Posting) -> None:
        """Close the connection of a statement that a worker has taken over by now."""
        self._taken.discard(posting)
        if (posted := posting.result()) is not None:
            posted.client.close()


@dataclass(slots=True)
class _Posted:
    """A statement on the coordinator, with its open connection."""

    target: Target
    script: str
    answer: Mapping[str, Any]
    client: StatementClient
    is_begun: bool = False
    at: float = field(default_factory=time.monotonic)

    def is_for(self, target: Target, script: str) -> bool:
        """Return whether it is what a command needs now."""
        is_fresh = time.monotonic() < self.at + _FRESH_SECONDS
        return is_fresh and (self.target, self.script) == (target, script)

    def begin(self) -> None:
        """Request the first answer; the worker requests it again and reads it."""
        uri = self.answer.get("nextUri")
        if not self.is_begun and uri is not None:
            self.client.ask_ahead(uri)
            self.is_begun = True

    def end(self) -> None:
        """End the statement if it was started, and close the connection."""
        self.client.close()
        if self.is_begun:
            self.client.cancel(self.answer["nextUri"])
            self.client.close()


_Posting = Future[_Posted | None]


def _posted(target: Target, script: str) -> _Posted | None:
    try:
        statements = split(script, Dialect.PRESTO)
    except NotSeparable:
        return None  # the worker reports it
    if not statements or (target.access is not None and statements[0].keyword not in READING):
        return None  # a coordinator of others may be of a version that starts what is posted
    client = StatementClient(target.coordinator, target.session(), connector(target.access, _SECONDS), patience=0)
    try:
        posted = _Posted(target, script, client.post(statements[0].text), client)
    except CoordinatorLost:
        client.close()
        raise
    if statements[0].keyword in READING:
        posted.begin()
    return posted


def _end(posting: _Posting) -> None:
    with suppress(CoordinatorLost):
        if (posted := posting.result()) is not None:
            posted.end()


async def _within(seconds: float, posting: _Posting) -> _Posted | None:
    if posting.done():
        return posting.result()
    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(posting)), seconds)
