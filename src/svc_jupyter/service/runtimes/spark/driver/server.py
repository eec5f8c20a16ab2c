"""The session server of a cluster: `python -m svc_spark.server SETTINGS`, with the path of a JSON file.

It starts Spark's driver; when one of the two ends, so does the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

from .driver import Driver
from .jvm import Jvm
from .processes import Ended
from .reserve import Reserve
from .sessions import Sessions
from .statement import Language, SqlPart, Statement
from .wire import LINE_LIMIT, challenge, is_proof, line
from .zygote import Zygote

_WAIT_SECONDS: Final = 25.0
_HOUSE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.5


class Server:
    """Answers calls."""

    def __init__(self, secret: str, driver: Driver, sessions: Sessions, reserve: Reserve) -> None:
        self._secret = secret
        self._driver = driver
        self._sessions = sessions
        self._reserve = reserve
        self._choosing = asyncio.Lock()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the calls of one connection."""
        challenged = challenge()
        try:
            writer.write(line({"challenge": challenged}))
            while asked := await reader.readline():
                call: dict[str, Any] = json.loads(asked)
                if not is_proof(self._secret, challenged, str(call.pop("proof", ""))):
                    return
                writer.write(line(await self._answer(call)))
                await writer.drain()
        except (OSError, ValueError):
            pass  # the client is gone, or is not one of the service's
        finally:
            writer.close()

    async def _answer(self, call: dict[str, Any]) -> dict[str, Any]:
        try:
            match call.pop("call", None):
                case "ping":
                    vitals = await self._driver.vitals()
                    work = {"sessions": self._sessions.described(), "running": self._sessions.running}
                    return {**vitals, **work, "python": self._reserve.python, "own_python": sys.executable}
                case "run":
                    return self._sessions.submit(_statement(call["statement"]), call["session"]).record()
                case "wait":
                    return await self._wait(call["id"], call.get("version"))
                case "cancel":
                    return {"cancelled": await self._sessions.cancel(call["id"])}
                case "use_python":
                    return await self._use(call["python"])
                case "ask":
                    return {"answer": await self._sessions.ask(call["session"], call["question"])}
                case "end_session":
                    return {"ended": await self._sessions.end(call["session"])}
                case other:
                    return {"error": f"there is no call {other!r}"}
        except Exception as error:  # noqa: BLE001  the caller gets the error; the server continues for others
            return {"error": f"{type(error).__name__}: {error}"}

    async def _use(self, python: str) -> dict[str, Any]:
        async with self._choosing:
            try:
                await self._reserve.use(python)
            except (Ended, OSError) as error:
                return {"reason": str(error)}
        return {}

    async def _wait(self, statement_id: str, version: int | None) -> dict[str, Any]:
        run = self._sessions.run(statement_id)
        if run is None:
            return {"state": "unknown"}
        changed = run.changed
        if run.version == version and run.state != "ended":
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_WAIT_SECONDS):
                    await changed.wait()
        return run.record()


def _statement(fields: dict[str, Any]) -> Statement:
    parts = [SqlPart(**part) for part in fields.pop("parts")]
    return Statement(language=Language(fields.pop("language")), parts=parts, **fields)


async def run(settings: dict[str, Any], secret: str, jvm: Jvm) -> None:
    """Serve until the driver ends."""
    driver = Driver()
    reserve = Reserve(driver, Zygote(sys.executable), Path(settings["classes"]))
    sessions = Sessions(driver, reserve, settings["idle_seconds"], lambda: jvm.process.poll() is None)
    await driver.start()
    await asyncio.shield(reserve.prepare())
    server = Server(secret, driver, sessions, reserve)
    listening = await asyncio.start_server(server.serve, settings["host"], settings["port"], limit=LINE_LIMIT)
    async with listening:
        print("ready", flush=True)  # noqa: T201  into the daemon's own log
        house = asyncio.create_task(_keep_house(driver, sessions, reserve))
        while jvm.process.poll() is None and reserve.can_go_on and not house.done():  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        jvm.end()  # at once: everything that waits for the driver would wait forever


async def _keep_house(driver: Driver, sessions: Sessions, reserve: Reserve) -> None:
    """End idle sessions; return when the driver's application was stopped: a new server starts a new one."""
    while True:
        await asyncio.sleep(_HOUSE_SECONDS)
        await sessions.end_idle()
        await reserve.end_retired()
        try:
            await driver.vitals()
        except RuntimeError:
            return


def main() -> None:
    """Start the driver and serve until it ends."""
    settings = json.loads(Path(sys.argv[1]).read_text())
    jvm = Jvm.start(settings["java"], settings["properties"], Path(settings["folder"]))
    os.environ["PYSPARK_GATEWAY_PORT"] = str(jvm.port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = jvm.secret
    signal.signal(signal.SIGTERM, lambda *_: jvm.process.terminate())
    try:
        asyncio.run(run(settings, Path(settings["secret_file"]).read_text().strip(), jvm))
    finally:
        jvm.end()


if __name__ == "__main__":
    main()
