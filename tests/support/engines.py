"""Real engines for tests: `await engine_for_tests(Engine.PIG)` in a test or fixture, `engine_at_once(Engine.PIG)`
outside of an event loop, `connect_client_at_once()` for Spark Connect's client, `java_for_tests()` for the Java they
run on, `ENGINES` for the object itself.

They are in the user's cache folder as for a user of the service, so a machine installs each of them once, and the
processes of a parallel run share it: whoever comes first installs, the others wait for its file lock. An engine that is
not there yet takes longer than a test may; ask for it in a session fixture.
"""

from __future__ import annotations

import asyncio
import sys

from svc_jupyter.service.application.engines import MADE_AT_INSTALL
from svc_jupyter.service.ground.settings import default_engines_dir
from svc_jupyter.service.installs import connect_client
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.java import JavaHome

ONE_COMPILER = "-XX:TieredStopAtLevel=1"
"""For a JVM of short tests: its second compiler takes a third of the processor time, and pays off after minutes."""
ENGINES = Engines(default_engines_dir(), additions=MADE_AT_INSTALL)


async def engine_for_tests(engine: Engine) -> Installed:
    """Return the engine, installed where the machine has not got it yet."""
    return await ENGINES.ensure(engine, _say)


def engine_at_once(engine: Engine) -> Installed:
    """Return the engine, for a fixture without an event loop."""
    return asyncio.run(engine_for_tests(engine))


def connect_client_at_once() -> None:
    """Install the client of Spark Connect where the machine has not got it yet."""
    asyncio.run(connect_client.install(ENGINES.installation, _say))


def java_for_tests() -> JavaHome:
    """Return the Java that the engines run on."""
    return asyncio.run(ENGINES.java(_say))


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
