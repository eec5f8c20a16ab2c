"""Parallel download of locked files into the store: verified while they arrive, resumed and retried after a break."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from svc_jupyter.service.ground.errors import first_of
from svc_jupyter.service.installs.failures import RepositoryFailed, RepositoryRefused, WrongChecksum
from svc_jupyter.service.installs.lock import Artifact
from svc_jupyter.service.installs.progress import DownloadProgress
from svc_jupyter.service.installs.store import Store, digest_so_far, file_lock

CONNECTIONS = 12
"""Connections to one repository: 189 files in 1.6 s from a near mirror; more gained nothing."""

_WORTH_GOING_ON = 64 * 1024
"""Bytes: an attempt that received this much does not count, so that a fragile line still completes the download."""


@dataclass(frozen=True)
class Patience:
    """How long to retry a repository: per file, `tries` without a gain, pauses from `first_pause` seconds, doubled."""

    tries: int = 5
    first_pause: float = 0.5
    longest_pause: float = 15.0
    silence: float = 30.0
    """Seconds without a byte after which a connection counts as broken."""

    def pause(self, tried: int) -> float:
        """Return the seconds before the next attempt, slightly random so that twelve connections differ."""
        return float(min(self.first_pause * 2 ** (tried - 1), self.longest_pause) * random.uniform(0.8, 1.2))  # noqa: S311


class _Cut(Exception):
    """The file is incomplete; `pause` is the repository's Retry-After in seconds, `reason` a text for the user."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.pause = pause


class Downloads:
    """Fetches files of one repository. Its address may hold a password, which no message contains."""

    def __init__(self, repository: str, store: Store, patience: Patience) -> None:
        self._repository = repository
        self._store = store
        self._patience = patience

    async def fetch(self, artifacts: Sequence[Artifact], progress: DownloadProgress) -> None:
        """Download the files into the store. Raises `EngineFailure`, `OSError`; keeps what has arrived by then."""
        queue = list(reversed(artifacts))

        async def work(client: httpx.AsyncClient) -> None:
            while queue:
                await self._fetch_one(client, queue.pop(), progress)

        limits = httpx.Limits(max_connections=CONNECTIONS)
        timeout = httpx.Timeout(self._patience.silence)
        async with httpx.AsyncClient(limits=limits, timeout=timeout, follow_redirects=True) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(CONNECTIONS, len(artifacts))):
                        group.create_task(work(client))
            except ExceptionGroup as failures:
                raise first_of(failures) from None

    async def _fetch_one(self, client: httpx.AsyncClient, artifact: Artifact, progress: DownloadProgress) -> None:
        """Fetch a file, unless another installation is already fetching it."""
        part = self._store.part(artifact)
        async with file_lock(part) as descriptor:
            if not await asyncio.to_thread(self._store.missing, [artifact]):
                part.unlink(missing_ok=True)
                progress.add(artifact.size)
                return
            await _Download(client, self._repository, artifact, descriptor, progress, self._patience).run()
            await asyncio.to_thread(_move, part, self._store.path(artifact))


class _Download:
    """The attempts at one file. Received bytes stay in its part file and are not requested again."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        repository: str,
        artifact: Artifact,
        descriptor: int,
        progress: DownloadProgress,
        patience: Patience,
    ) -> None:
        self._client = client
        self._url = httpx.URL(repository).join(artifact.path)
        self._artifact = artifact
        self._descriptor = descriptor
        self._progress = progress
        self._patience = patience
        self._length = 0

    async def run(self) -> None:
        """Leave the complete verified file behind the descriptor."""
        self._digest, self._length = await asyncio.to_thread(digest_so_far, self._descriptor)
        self._progress.add(self._length)
        if self._length > self._artifact.size:
            self._begin_anew()
        was_wrong = False
        while True:
            if self._length < self._artifact.size:
                await self._gather()
            if self._length == self._artifact.size and self._digest.hexdigest() == self._artifact.sha256:
                return
            self._begin_anew()
            if was_wrong:
                raise WrongChecksum(
                    f"{self._where()}: its content is not what the lock names (sha256 {self._artifact.sha256}), "
                    "also at the second download. Nothing was installed from it; ask who runs that repository, "
                    "or set SVC_MAVEN_REPOSITORY to another one"
                )
            was_wrong = True

    async def _gather(self) -> None:
        """Receive until the file has its size, over as many connections as that takes."""
        tried = 0
        while self._length < self._artifact.size:
            before = self._length
            try:
                await self._receive()
            except (_Cut, httpx.TransportError) as error:
                tried = 1 if self._length - before >= _WORTH_GOING_ON else tried + 1
                if tried >= self._patience.tries:
                    raise RepositoryFailed(
                        f"{self._where()}: {_reason(error)}, {tried} times. Check the network and the proxy settings "
                        "and try again: what has come is kept. SVC_MAVEN_REPOSITORY names another repository"
                    ) from error
                asked_for = error.pause if isinstance(error, _Cut) else 0.0
                await asyncio.sleep(max(self._patience.pause(tried), asked_for))

    async def _receive(self) -> None:
        """Request the rest once, and write what arrives; raises `_Cut` and httpx's connection errors."""
        headers = {"Accept-Encoding": "identity"}
        if self._length:
            headers["Range"] = f"bytes={self._length}-"
        async with self._client.stream("GET", self._url, headers=headers) as response:
            self._judge(response)
            async for chunk in response.aiter_raw():
                self._write(chunk)
        if self._length < self._artifact.size:
            raise _Cut("the connection ended in the middle of the file")

    def _judge(self, response: httpx.Response) -> None:
        """Accept the answer as the rest of the file or as all of it, or raise."""
        status = response.status_code
        if status == httpx.codes.PARTIAL_CONTENT:
            if not response.headers.get("Content-Range", "").startswith(f"bytes {self._length}-"):
                self._begin_anew()
                raise _Cut("it sent another part of the file than was asked for")
        elif status == httpx.codes.OK:
            self._begin_anew()
        elif status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            self._begin_anew()
            raise _Cut("it has less of the file than had come before")
        elif status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise _Cut(f"it answers {status}", _pause_asked_for(response, self._patience.longest_pause))
        else:
            raise RepositoryRefused(f"{self._where()}: {_refusal(status)}")

    def _write(self, chunk: bytes) -> None:
        if self._length + len(chunk) > self._artifact.size:
            # More bytes than in the lock: the digest must not match.
            self._digest.update(b"more")
            chunk = chunk[: self._artifact.size - self._length]
        if chunk:
            view = memoryview(chunk)
            while view:
                view = view[os.write(self._descriptor, view) :]
            self._digest.update(chunk)
            self._length += len(chunk)
            self._progress.add(len(chunk))

    def _begin_anew(self) -> None:
        if not self._length:
            return
        os.ftruncate(self._descriptor, 0)
        self._progress.add(-self._length)
        self._digest, self._length = digest_so_far(self._descriptor)

    def _where(self) -> str:
        return f"{self._artifact.path} from {without_login(self._url)}"


def without_login(url: httpx.URL) -> str:
    """Return the address of a repository's host for messages: without user, password and query."""
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.host}{port}"


def _refusal(status: int) -> str:
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.PROXY_AUTHENTICATION_REQUIRED):
        return (
            f"it answers {status}, so it wants a login: put user and password into the address in "
            "SVC_MAVEN_REPOSITORY, or set that to another repository"
        )
    return (
        f"it answers {status}, so it does not have that file: check the address in SVC_MAVEN_REPOSITORY "
        "or in Maven's settings.xml"
    )


def _pause_asked_for(response: httpx.Response, longest: float) -> float:
    asked_for = response.headers.get("Retry-After", "")
    return min(float(asked_for), longest) if asked_for.isdecimal() else 0.0


def _reason(error: _Cut | httpx.TransportError) -> str:
    if isinstance(error, _Cut):
        return error.reason
    if isinstance(error, httpx.TimeoutException):
        return "it does not answer in time"
    return f"no connection ({error})" if isinstance(error, httpx.ConnectError) else "the connection broke"


def _move(part: Path, target: Path) -> None:
    part.replace(target)
