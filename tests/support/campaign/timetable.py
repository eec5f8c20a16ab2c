"""The schedule of a campaign: what it ran, how often, and for which nominal times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from tests.support.campaign.ledger import ERA
from tests.support.service_process import wait_until

from svc_jupyter.api.schedules import ActionRecord
from svc_jupyter.client import Client

_SECONDS = 2


@dataclass
class Timetable:
    """A schedule for every other second. Each of its scripts writes nominal time, command and era to one file."""

    file: Path
    id: int
    _known: list[set[int]] = field(default_factory=list)
    """At the end of each era that was rolled back: the commands that the restored database knows."""
    _rewound: set[str] = field(default_factory=set)
    """Commands that had not ended in a database that was restored: each may run once more."""

    @classmethod
    def create(cls, client: Client, file: Path) -> Timetable:
        file.touch()
        schedule = client.schedules.create(
            "ShellCommand",
            {"inline": f'echo "$at$ $SVC_COMMAND_ID ${ERA}" >>{file}; echo "$at$ $SVC_COMMAND_ID"'},
            macros={"at": "Service_nominal_time.utc().format('YYYY-MM-DDTHH:mm:ss[Z]')"},
            cron_expression=f"*/{_SECONDS} * * ? * *",
            concurrency=20,
        )
        return cls(file, schedule.id)

    def restore(self, statuses: Mapping[int, str]) -> None:
        """Note that the database was restored, and the statuses of the commands that it knows."""
        self._known.append(set(statuses))
        self._rewound |= {str(number) for number, status in statuses.items() if status in ("waiting", "running")}

    def faults(self, client: Client) -> list[str]:
        """Suspend the schedule, wait for its last command, and return what is wrong with all of them."""
        client.schedules.suspend(self.id)
        begun = wait_until(lambda: self._begun(client), "the end of the last scheduled command", 180)
        wrong = [f"{_of(action)} {action.status}: {action.message}" for action in begun if action.status != "done"]
        lines = Counter(tuple(line.split()) for line in self.file.read_text().splitlines())
        ran = Counter[tuple[str, str]]()
        for (moment, command, era), count in lines.items():
            if not self._is_forgotten(int(command), int(era)):
                before = ran[moment, command]
                ran[moment, command] = max(before, count) if command in self._rewound else before + count
        wanted = Counter((action.nominal_time, str(action.query_hist_id)) for action in begun)
        wrong += [
            f"{key} ran {ran[key]} times instead of {wanted[key]}" for key in ran | wanted if ran[key] != wanted[key]
        ]
        for action in begun:
            if action.status != "done" or action.query_hist_id is None:
                continue
            text = client.commands.get(action.query_hist_id).result().text()
            if text != f"{action.nominal_time} {action.query_hist_id}\n":
                wrong.append(f"{_of(action)} has another's result: {text!r}")
        return wrong + _gaps(begun)

    def _begun(self, client: Client) -> list[ActionRecord] | None:
        begun = [action for action in client.schedules.iter_actions(self.id) if action.query_hist_id]
        return sorted(begun, key=lambda action: action.nominal_time) if all(item.done for item in begun) else None

    def _is_forgotten(self, command_id: int, era: int) -> bool:
        """Whether a command of an era was unknown to the database that was restored at the end of it."""
        return era < len(self._known) and command_id not in self._known[era]


def _of(action: ActionRecord) -> str:
    return f"{action.nominal_time} (command {action.query_hist_id})"


def _gaps(begun: list[ActionRecord]) -> list[str]:
    """Tell which nominal times are missing, or there twice."""
    times = [datetime.fromisoformat(action.nominal_time) for action in begun]
    apart = timedelta(seconds=_SECONDS)
    return [f"after {earlier} came {later}" for earlier, later in pairwise(times) if later - earlier != apart]
