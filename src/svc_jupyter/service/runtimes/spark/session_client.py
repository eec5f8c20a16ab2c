"""Calls to a cluster's session server; `driver/wire.py` describes the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from types import TracebackType
from typing import Any, Final, Self

from svc_jupyter.service.ground.errors import Failure
from svc_jupyter.service.runtimes.spark.driver import wire
from svc_jupyter.service.runtimes.spark.driver.statement import Statement

_CONNECT_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 20.0
_WAIT_SECONDS: Final = 60.0


class ServerSilent(Failure):
    """The session server does not answer: it is not running, or it hangs."""


class SessionClient:
    """One connection, for one call at a time. All raise `ServerSilent`."""

    def __init__(self, host: str, port: int, secret: str) -> None:
        self._host = host
        self._port = port
        self._secret = secret

    async def __aenter__(self) -> Self:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                self._reader, self._writer = await asyncio.open_connection(
                    self._host, self._port, limit=wire.LINE_LIMIT
                )
                try:
                    self._challenge = json.loads(await self._reader.readline())["challenge"]
                except BaseException:
                    self._writer.close()
                    raise
        except (OSError, ValueError, TimeoutError) as error:
            raise ServerSilent(f"the session server at {self._host}:{self._port} does not answer") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    async def ping(self) -> dict[str, Any]:
        """Return the driver's heap in bytes (`heap_used`, `heap_max`), `application`, `ui`, `sessions`, `running`.

        `python` is that of new sessions, `own_python` Spark's own.
        """
        return await self._call(_ANSWER_SECONDS, call="ping")

    async def run(self, statement: Statement, session: str | None) -> dict[str, Any]:
        """Start a statement, in a named session or in its own; return as `wait`. A repeated call runs it only once."""
        return await self._call(_ANSWER_SECONDS, call="run", statement=asdict(statement), session=session)

    async def wait(self, statement_id: str, version: int | None) -> dict[str, Any]:
        """Return `state` (waiting, running, ended, unknown), `version`, `percent` and `rows`, once they change."""
        return await self._call(_WAIT_SECONDS, call="wait", id=statement_id, version=version)

    async def cancel(self, statement_id: str) -> bool:
        """End a statement; return whether there was one to end."""
        return bool((await self._call(_ANSWER_SECONDS, call="cancel", id=statement_id))["cancelled"])

    async def use_python(self, python: str) -> str | None:
        """Set the Python of new sessions; return why it cannot be used, or None."""
        reason: str | None = (await self._call(_WAIT_SECONDS, call="use_python", python=python)).get("reason")
        return reason

    async def ask(self, session: str, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the session's answer to an editor's question; None while it cannot answer at once."""
        answer: dict[str, Any] | None = (
            await self._call(_ANSWER_SECONDS, call="ask", session=session, question=dict(question))
        )["answer"]
        return answer

    async def end_session(self, session: str) -> bool:
        """End a kept session; return whether there was one."""
        return bool((await self._call(_ANSWER_SECONDS, call="end_session", session=session))["ended"])

    async def _call(self, seconds: float, **call: Any) -> dict[str, Any]:
        try:
            async with asyncio.timeout(seconds):
                self._writer.write(wire.line({**call, "proof": wire.proof(self._secret, self._challenge)}))
                await self._writer.drain()
                answer = json.loads(await self._reader.readline() or b"null")
        except (OSError, ValueError, TimeoutError) as error:
            raise ServerSilent(f"the session server at {self._host}:{self._port} does not answer") from error
        if not isinstance(answer, dict) or "error" in answer:
            reason = answer["error"] if isinstance(answer, dict) else "it closed the connection"
            raise ServerSilent(f"the session server at {self._host}:{self._port} refused a call: {reason}")
        return answer
