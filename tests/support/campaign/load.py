"""The load of a campaign: threads that submit through the client, wait, and check what they and others were given."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.support.campaign.ledger import KINDS, Kind, Ledger, Submission

from svc_jupyter.client import Client, Command, Retries
from svc_jupyter.client.errors import CommandEnded, ConnectionFailed, ServiceUnavailable, SvcError

_SUBMITTERS = 3
_MOST_AT_ONCE = 3
"""Commands that a submitter begins before it waits for the last of them."""
_LONGEST_SECONDS = 1.5
_PATIENCE_SECONDS = 120.0
"""How long an outage may last, and a command may take with all that happens meanwhile."""
_BETWEEN_LOOKS = 0.2
"""Seconds between two looks at what was submitted long ago."""
_AWAY = (ConnectionFailed, ServiceUnavailable)


class Gate:
    """Lets threads do their pieces of work, and keeps them out for a while."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_open = True
        self._inside = 0

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Do a piece of work, once the gate is open."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_open)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Wait for the pieces of work that have begun, and let none begin meanwhile."""
        with self._changed:
            self._is_open = False
            assert self._changed.wait_for(lambda: not self._inside, 2 * _PATIENCE_SECONDS), (
                "the load does not come to rest"
            )
        try:
            yield
        finally:
            with self._changed:
                self._is_open = True
                self._changed.notify_all()


class Load:
    """Submitters, and one who looks at what was submitted long ago. They ride over every outage."""

    def __init__(self, addresses: Sequence[str], token: str, folder: Path, tap: int, seed: int) -> None:
        self.ledger = Ledger()
        self.gate = Gate()
        folder.mkdir()
        self._folder = folder
        self._tap = tap
        self._clients = [Client(address, token, retries=Retries(total=_PATIENCE_SECONDS)) for address in addresses]
        self.enough = threading.Event()
        """Set when the load is to end."""
        self._numbers = iter(range(10_000_000))
        self._pool = ThreadPoolExecutor(_SUBMITTERS + 1)
        self._threads: list[Future[None]] = [
            self._pool.submit(self._submit_all, random.Random(f"{seed} {number}")) for number in range(_SUBMITTERS)
        ]
        self._threads.append(self._pool.submit(self._look_again, random.Random(f"{seed} reader")))

    @property
    def client(self) -> Client:
        """A client of the first of the addresses."""
        return self._clients[0]

    @property
    def acknowledged(self) -> int:
        return len(self.ledger.submissions)

    @property
    def has_failed(self) -> bool:
        """Whether a thread has ended by itself, with an error that `stop` raises."""
        return any(thread.done() for thread in self._threads)

    def stop(self) -> None:
        """End the threads; raises what one of them raised."""
        self.enough.set()
        for thread in self._threads:
            thread.result(2 * _PATIENCE_SECONDS)

    def close(self) -> None:
        """End the threads and the connections, whatever has happened."""
        self.enough.set()
        self._pool.shutdown()
        for client in self._clients:
            client.close()

    def submit(self, kind: Kind, seconds: float, chance: random.Random) -> tuple[Submission, Command]:
        """Submit a command, with one key until it is acknowledged."""
        token = f"t{next(self._numbers)}x{chance.randrange(10**6)}"
        submission = Submission(token, kind, self._folder, seconds, self._tap)
        while True:
            commands = chance.choice(self._clients).commands
            try:
                command = commands.submit(
                    kind.command_type, idempotency_key=token, name=token, **kind.fields(submission)
                )
            except _AWAY:
                assert not self.enough.is_set(), "the service does not come back"
                continue
            submission.command_id = command.id
            self.ledger.add(submission)
            return submission, command

    def _submit_all(self, chance: random.Random) -> None:
        while not self.enough.is_set():
            with self.gate.passed():
                for _ in range(chance.randint(1, _MOST_AT_ONCE)):
                    seconds = chance.random() ** 2 * _LONGEST_SECONDS
                    submission, command = self.submit(chance.choice(KINDS), seconds, chance)
                try:
                    command.wait(_PATIENCE_SECONDS)
                except CommandEnded:
                    pass  # as it may: the check tells
                except SvcError as error:
                    self.ledger.tell(submission, f"the wait ended with {error!r}")
                self._check(submission, chance)

    def _look_again(self, chance: random.Random) -> None:
        while not self.enough.wait(_BETWEEN_LOOKS):
            with self.gate.passed():
                if known := self.ledger.known():
                    self._check(chance.choice(known), chance)

    def _check(self, submission: Submission, chance: random.Random) -> None:
        try:
            self.ledger.check_answer(chance.choice(self._clients), submission)
        except _AWAY:
            pass  # it is looked at again in the end
        except SvcError as error:
            self.ledger.tell(submission, repr(error))
