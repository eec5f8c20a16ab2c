"""What was submitted in a campaign, what must come of it, and what came."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.client import Client, Command

ERA = "CAMPAIGN_ERA"
"""Variable of the service's environment, and so of its scripts: how often a backup had been restored."""


@dataclass(frozen=True)
class Kind:
    """A kind of command: how it is submitted, and what must come of it."""

    name: str
    command_type: str
    fields: Callable[[Submission], Mapping[str, Any]]
    status: str = "done"
    runs: Mapping[str, int] = field(default_factory=lambda: {"": 1})
    """How many lines it writes to each of its files, by what is put after the token."""
    result: Callable[[Command, str], bool] | None = None
    """Whether the result is that of the token; None where there is none to be read."""
    log: Callable[[str], str] | None = None
    """The whole log for a token; None where the service writes into it, too."""


@dataclass
class Submission:
    """A command that was submitted; `token` is its name, its key, its output, and the name of its file of lines."""

    token: str
    kind: Kind
    folder: Path
    seconds: float
    """How long its script takes."""
    tap: int
    command_id: int = 0
    is_forgotten: bool = False
    """Whether the database was restored to a time before it."""
    was_rewound: bool = False
    """Whether the database was restored to a time at which it had not ended."""

    def script(self, suffix: str = "", end: str = "") -> str:
        """Return a script that writes a line to its own file, a log, and its token as its output."""
        file = self.folder / f"{self.token}{suffix}"
        return (
            f'echo "${ERA}" >>{file}; echo "log {self.token}{suffix}" >&2; '
            f"sleep {self.seconds:.2f}; echo {self.token}{suffix}; {end}"
        )

    def lines(self, suffix: str) -> list[str]:
        """Return the eras in which its script ran."""
        file = self.folder / f"{self.token}{suffix}"
        return file.read_text().split() if file.exists() else []


def _shell(submission: Submission) -> Mapping[str, Any]:
    return {"inline": submission.script()}


def _failing(submission: Submission) -> Mapping[str, Any]:
    return {"inline": submission.script(end="exit 7")}


def _retried(submission: Submission) -> Mapping[str, Any]:
    again = f'[ "$(wc -l <{submission.folder / submission.token})" -gt 1 ] || exit 3'
    return {"inline": submission.script(end=again), "retry": 2, "retry_delay": 0}


def _query(submission: Submission) -> Mapping[str, Any]:
    rows = (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {submission.seconds * 200_000:.0f})"
    )
    return {
        "db_tap_id": submission.tap,
        "query": f"{rows} SELECT '{submission.token}' AS t, max(i) > 0 AS m FROM n",
    }


def _composite(submission: Submission) -> Mapping[str, Any]:
    parts = [{"command_type": "ShellCommand", "inline": submission.script(suffix)} for suffix in (".1", ".2")]
    return {"sub_commands": parts}


def _text(suffix: str = "") -> Callable[[Command, str], bool]:
    return lambda command, token: command.result().text() == f"{token}{suffix}\n"


def _row(command: Command, token: str) -> bool:
    return bool(command.result().to_arrow().to_pylist() == [{"t": token, "m": 1}])


def _log(token: str) -> str:
    return f"log {token}\n"


KINDS = (
    Kind("shell", "ShellCommand", _shell, result=_text(), log=_log),
    Kind("failing", "ShellCommand", _failing, status="error", log=_log),
    Kind("retried", "ShellCommand", _retried, runs={"": 2}, result=_text()),
    Kind("query", "DbTapQueryCommand", _query, runs={}, result=_row),
    Kind("composite", "CompositeCommand", _composite, runs={".1": 1, ".2": 1}, result=_text(".2")),
)


class Ledger:
    """All that was acknowledged, and whatever was wrong. Used by several threads."""

    def __init__(self) -> None:
        self.submissions: list[Submission] = []
        self.wrong: list[str] = []
        self._lock = threading.Lock()

    def add(self, submission: Submission) -> None:
        with self._lock:
            self.submissions.append(submission)

    def tell(self, submission: Submission, what: str) -> None:
        """Note a fault."""
        with self._lock:
            self.wrong.append(f"{submission.kind.name} {submission.token} (command {submission.command_id}): {what}")

    def known(self) -> list[Submission]:
        """Return the submissions that the service must know."""
        with self._lock:
            return [submission for submission in self.submissions if not submission.is_forgotten]

    def restore(self, statuses: Mapping[str, str]) -> None:
        """Note what a restored database knows: the statuses of its commands by name."""
        for submission in self.known():
            status = statuses.get(submission.token)
            submission.is_forgotten = status is None
            submission.was_rewound |= status in ("waiting", "running")

    def check_answer(self, client: Client, submission: Submission) -> CommandRecord:
        """Ask for a command and note what is wrong with the answers so far; return its record."""
        command = client.commands.get(submission.command_id)
        record = command.record
        if record.name != submission.token:
            self.tell(submission, f"its id answers for {record.name}")
        elif command.ended:
            if record.status != submission.kind.status:
                self.tell(submission, f"{record.status}, {record.message}")
            elif submission.kind.result is not None and not submission.kind.result(command, submission.token):
                self.tell(submission, f"another's result: {command.result().text()!r}")
            log = command.logs()
            if submission.kind.log is not None and log != submission.kind.log(submission.token):
                self.tell(submission, f"another's log: {log!r}")
        return record

    def check_end(self, record: CommandRecord, submission: Submission) -> None:
        """Note whether a command has not ended, or not run as often as it must."""
        if not record.status.is_final:
            self.tell(submission, f"still {record.status}")
        for suffix, wanted in submission.kind.runs.items():
            lines = submission.lines(suffix)
            if submission.was_rewound and submission.kind.command_type == "CompositeCommand":
                # Sub-commands that the restored database did not know were begun once more, in another era.
                is_right = bool(lines) and max(Counter(lines).values()) == wanted
            else:
                is_right = len(lines) == wanted
            if not is_right:
                self.tell(submission, f"{suffix} ran {len(lines)} times, in the eras {lines}; {record.message}")
        if submission.kind.name == "retried" and [item.exit_code for item in record.attempts or []] != [3, 0]:
            self.tell(submission, f"its attempts were {record.attempts}")

    def check_forgotten(self) -> None:
        """Note what ran too often before a restored database forgot it."""
        for submission in self.submissions:
            for suffix, most in submission.kind.runs.items() if submission.is_forgotten else ():
                if len(submission.lines(suffix)) > most:
                    self.tell(submission, f"{suffix} ran {len(submission.lines(suffix))} times and was forgotten")
