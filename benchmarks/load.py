"""A process that loads a service and reports the cost: `python -m benchmarks.load MODE COUNT`, result as JSON.

The service is that of SVC_DATA_DIR. Connecting and the first calls do not count.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from benchmarks.processes import ProcessorTime
from svc_jupyter.api import paths
from svc_jupyter.client import AsyncClient, Client, Settings
from svc_jupyter.client.address.embedded import EmbeddedService, RunningService

CONCURRENCY = 32
"""The number of concurrent commands."""
_SCRIPT = "true"
_FIRST = 3
_BODY = json.dumps({"command_type": "ShellCommand", "inline": _SCRIPT}).encode()


def run_with_tasks(count: int) -> Callable[[], None]:
    """Run commands to their end with one AsyncClient in 32 tasks."""

    async def one(client: AsyncClient) -> None:
        await client.commands.run("ShellCommand", inline=_SCRIPT)

    async def take_turns(client: AsyncClient, what: Callable[[AsyncClient], Awaitable[None]], times: int) -> None:
        numbers = iter(range(times))

        async def work() -> None:
            for _ in numbers:
                await what(client)

        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))

    client = AsyncClient()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(take_turns(client, one, CONCURRENCY))
    return lambda: loop.run_until_complete(take_turns(client, one, count))


def run_with_threads(count: int) -> Callable[[], None]:
    """Run commands to their end with one Client in 32 threads."""
    client = Client()
    pool = ThreadPoolExecutor(CONCURRENCY)

    def one(_number: int) -> None:
        client.commands.run("ShellCommand", inline=_SCRIPT)

    list(pool.map(one, range(CONCURRENCY)))
    return lambda: list(pool.map(one, range(count))).clear()


def submit(count: int) -> Callable[[], None]:
    """Submit commands with one Client, one after the other, without waiting for their end."""
    client = Client()

    def work(times: int) -> None:
        for _ in range(times):
            client.commands.submit("ShellCommand", inline=_SCRIPT)

    work(_FIRST)
    return lambda: work(count)


def submit_bare(count: int) -> Callable[[], None]:
    """Send the same submissions over one connection of the standard library, and read only their status."""
    service = running_service()
    connection = http.client.HTTPConnection(urlsplit(service.base_url).netloc)
    headers = {paths.TOKEN_HEADER: service.token, "Content-Type": "application/json"}

    def work(times: int) -> None:
        for _ in range(times):
            connection.request("POST", paths.api("commands"), _BODY, headers)
            response = connection.getresponse()
            answer = response.read()
            if response.status != http.HTTPStatus.OK:
                raise RuntimeError(f"{response.status}: {answer[:500]!r}")

    work(_FIRST)
    return lambda: work(count)


def running_service() -> RunningService:
    """Return the service of the data folder."""
    service = EmbeddedService(Settings.load().data_dir).find()
    assert service is not None
    return service


MODES = {"tasks": run_with_tasks, "threads": run_with_threads, "submit": submit, "bare": submit_bare}


def main() -> None:
    """Print the seconds of the work, and the processor seconds of client, service and commands."""
    mode, count = sys.argv[1], int(sys.argv[2])
    work = MODES[mode](count)
    service = running_service().pid
    client_before, service_before = ProcessorTime.of(os.getpid()), ProcessorTime.of(service)
    started = time.perf_counter()
    work()
    took = time.perf_counter() - started
    client, served = ProcessorTime.of(os.getpid()).since(client_before), ProcessorTime.of(service).since(service_before)
    print(json.dumps({"seconds": took, "client": client.own, "service": served.own, "commands": served.children}))


if __name__ == "__main__":
    main()
