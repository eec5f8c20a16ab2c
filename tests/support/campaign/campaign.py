"""A campaign: services under load to which one thing after the other happens, and the account of it all."""

from __future__ import annotations

import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path

from tests.conftest import end_commands_of
from tests.support.campaign.backups import Backup
from tests.support.campaign.ledger import ERA, KINDS
from tests.support.campaign.load import Load
from tests.support.campaign.timetable import Timetable
from tests.support.ports import free_port
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.stepped_clock import SteppedClock

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.client import Client
from svc_jupyter.client.errors import SvcError

_ENOUGH = 6
"""Commands acknowledged between one happening and the next."""
_MOMENTS = 0.4
"""The longest time, in seconds, by which a happening is put off, so that it meets any state of a command."""


class Replica(ServiceProcess):
    """A service on a port that it keeps, with a clock of its own that can be set."""

    def __init__(self, data_dir: Path, clock: SteppedClock, **settings: object) -> None:
        super().__init__(data_dir, port=free_port(), running_limit=12, kill_grace_seconds=1, **settings)
        self.clock = clock
        self.era = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings['port']}"

    def environment(self) -> Mapping[str, str]:
        return {**super().environment(), **self.clock.environment, ERA: str(self.era)}

    def step(self, seconds: int) -> None:
        """Set its clock, and return when its answers tell so; what its commands wrote down is that much older then."""
        self.clock.step(seconds, self.data_dir.glob("commands/*/*/*/pid"))
        wait_until(self._tells_its_time, "the new time", 60)

    def _tells_its_time(self) -> bool:
        asked = time.time()
        told = parsedate_to_datetime(self.http.get("/commands", params={"per_page": 1}).headers["Date"])
        return asked - 2 <= told.timestamp() - self.clock.offset <= time.time() + 1


class Campaign:
    """Started replicas of one service, and the load on them. What is left to chance follows from the seed."""

    def __init__(self, replicas: list[Replica], folder: Path, seed: int) -> None:
        self.replicas = replicas
        self.folder = folder
        self.chance = random.Random(seed)
        first = replicas[0]
        tap_file = first.data_dir / "storage" / "tap.db"
        with closing(sqlite3.connect(tap_file)):
            pass
        with Client(first.address, first.token) as client:
            tap = client.db_taps.create(name="tap", db_type="sqlite", db_name=str(tap_file))
            self.timetable = Timetable.create(client, folder / "nominal-times")
        addresses = [replica.address for replica in replicas]
        self.load = Load(addresses, first.token, folder / "lines", tap.id, seed)

    @property
    def client(self) -> Client:
        return self.load.client

    def go_on(self, least: int = _ENOUGH) -> None:
        """Let the load go on for a while, and then until any moment."""
        reached = self.load.acknowledged + least
        wait_until(lambda: self.load.acknowledged >= reached or self.load.has_failed, "the load", 180)
        self.pause()

    def pause(self) -> None:
        """Let a random time pass: what happens then is to meet any state."""
        self.load.enough.wait(self.chance.random() * _MOMENTS)

    def begin_one_of_each(self, seconds: float) -> None:
        """Submit a command of each kind whose end nobody waits for."""
        for kind in KINDS:
            self.load.submit(kind, seconds, self.chance)

    def restore(self, backup: Backup) -> None:
        """Stop the replicas, put the backup back, note what its database knows, and start them; nobody else submits."""
        for replica in self.replicas:
            assert replica.stop() == 0
        backup.restore()
        statuses = backup.statuses()
        self.load.ledger.restore({name: status for name, status in statuses.values() if name is not None})
        self.timetable.restore({number: status for number, (_, status) in statuses.items()})
        for replica in self.replicas:
            replica.era += 1
            replica.start()

    def faults(self) -> list[str]:
        """End the load, wait for the end of every command, and return all that was or is wrong."""
        self.load.stop()
        ledger = self.load.ledger
        wait_until(lambda: not self.unfinished(), "the end of every command", 180)
        wrong = self.timetable.faults(self.client)
        for submission in ledger.known():
            try:
                ledger.check_end(ledger.check_answer(self.client, submission), submission)
            except SvcError as error:
                ledger.tell(submission, repr(error))
        ledger.check_forgotten()
        return [*ledger.wrong, *wrong, *self._uncounted(), *self._errors()]

    def unfinished(self) -> list[CommandRecord]:
        commands = self.client.commands
        return [record for status in ("waiting", "running") for record in commands.iter(status=status, all_users=True)]

    def _uncounted(self) -> Iterator[str]:
        """Tell of commands that are there twice, or that nobody was told of."""
        records = self.client.commands.iter(all_users=True)
        there = Counter(record.name for record in records if record.command_source == "API" and not record.parent_id)
        wanted = Counter(submission.token for submission in self.load.ledger.known())
        yield from (f"{name} is there {there[name]} times" for name in there | wanted if there[name] != wanted[name])

    def _errors(self) -> Iterator[str]:
        """Tell of faults that the service noticed in itself."""
        for log in sorted({replica.log_file for replica in self.replicas}):
            lines = log.read_text().splitlines()
            yield from (line for line in lines if '"level": "error"' in line or line.startswith("Traceback"))


@contextmanager
def campaign(make: Callable[[SteppedClock], Replica], folder: Path, *, replicas: int, seed: int) -> Iterator[Campaign]:
    """Yield a campaign on replicas that are ended afterwards, and all of their commands."""
    clocks = [SteppedClock(folder / f"clock-{number}") for number in range(replicas)]
    made = [make(clock) for clock in clocks]
    load: Load | None = None
    try:
        for replica in made:
            replica.start()
        run = Campaign(made, folder, seed)
        load = run.load
        yield run
    finally:
        if load is not None:
            load.close()
        for replica in made:
            replica.kill()
            end_commands_of(replica.data_dir)
