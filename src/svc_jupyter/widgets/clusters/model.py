"""The logic of the cluster panel, without widgets: its state, its questions and its steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from svc_jupyter.api.status_words import DONE, FAILED, RUNNING, STOPPED
from svc_jupyter.durations import elapsed, span
from svc_jupyter.widgets.clusters.steps import Question, Step, obstacle, perform, possible_steps, removal_obstacle
from svc_jupyter.widgets.clusters.view import ClusterView, fetch_view
from svc_jupyter.widgets.panels.watched_model import PAUSED, Clock, WatchedModel

if TYPE_CHECKING:
    from svc_jupyter.api.clusters import ClusterRecord
    from svc_jupyter.api.commands import CommandRecord
    from svc_jupyter.client import Client, Command

BUSY_SECONDS, CALM_SECONDS = 1.0, 5.0
"""How often a visible panel refreshes: during a change, and otherwise."""
LATE_SECONDS = 4.0
"""How long the service may take to answer before the displayed state is called unknown."""
LISTED = 100


class ClusterModel(WatchedModel[Question]):
    """The state of one panel. `clusters` are the choices, empty in a panel of one cluster.

    `doubt` says why `view` may be out of date; None when it is current.
    """

    def __init__(
        self,
        client: Callable[[], Client],
        view: ClusterView | None,
        clusters: list[ClusterRecord] | None = None,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(client, clock)
        self.view = view
        self.clusters = clusters or []
        self.target = len(view.workers) if view is not None else 0
        self.doubt: str | None = None
        self.commands = FollowedCommands(time.monotonic)
        self._looks = 0

    @property
    def steps(self) -> set[Step]:
        """The steps possible now: none during a question or a step, or without a view."""
        if self.view is None or self.question is not None or self.working or self.doubt is not None:
            return set()
        steps = possible_steps(self.view)
        if self.target == len(self.view.workers) or self.obstacle is not None:
            steps.discard(Step.RESIZE)
        if removal_obstacle(self.view) is not None:
            steps.discard(Step.REMOVE)
        return steps

    @property
    def obstacle(self) -> str | None:
        """Why the cluster cannot get the requested number of workers, or None."""
        return None if self.view is None else obstacle(self.view, self.target)

    def period(self) -> float:
        """Return the seconds between two refreshes."""
        busy = self.commands.are_running or (self.view is not None and self.view.is_moving)
        return BUSY_SECONDS if busy else CALM_SECONDS

    # Called by the buttons on the kernel's main thread: nothing here blocks.

    def ask(self, step: Step, node: str | None = None) -> None:
        """Ask for the confirmation of a step; `node` is the worker to remove. A start needs no confirmation."""
        with self._lock:
            if self.view is None or step not in self.steps:
                return
            self.note, self.problem = "", None
            self.question = Question(step, self.view, self.target, node)
        if step is Step.START:
            self.confirm()
        else:
            self.on_change()

    def aim(self, target: int) -> None:
        """Set the requested number of workers; nothing happens before `ask`."""
        with self._lock:
            self.target = target
        self.on_change()

    def dismiss(self) -> None:
        """Dismiss the question and reset the requested size."""
        with self._lock:
            if self.view is not None:
                self.target = len(self.view.workers)
        super().dismiss()

    def cancel(self) -> None:
        """Cancel the commands that the panel has started; their changes are reverted."""
        self.worker.submit(self._cancel)

    # Below: the panel's own thread.

    def _look(self) -> None:
        if self.view is not None:
            self._fetch(self.view.record.id)

    def _fetch(self, number: int) -> None:
        from svc_jupyter.client.errors import SvcError

        self._looks += 1
        late = threading.Timer(LATE_SECONDS, self._late, [self._looks])
        late.daemon = True
        late.start()
        try:
            client = self._client()
            self.commands.refresh()
            view = fetch_view(client, number, self.clock())
            clusters = listed(client) if self.clusters else []
        except SvcError as error:
            with self._lock:
                self._looks += 1
                self.problem = self.doubt = error.message
        else:
            self._see(view, clusters)
        finally:
            late.cancel()
        self.on_change()

    def _see(self, view: ClusterView, clusters: list[ClusterRecord]) -> None:
        with self._lock:
            self._looks += 1
            before = self.view
            is_other = before is None or before.record.id != view.record.id
            # If the user has not changed the size, it follows the cluster's.
            if is_other or before is None or self.target == len(before.workers):
                self.target = len(view.workers)
            self.view, self.clusters, self.problem, self.doubt = view, clusters, None, None

    def _late(self, look: int) -> None:
        """Mark the view as out of date, unless that refresh has ended meanwhile."""
        with self._lock:
            if look != self._looks:
                return
            self.doubt = f"the service has not answered for {LATE_SECONDS:.0f} s"
        self.on_change()

    def _pause(self) -> None:
        self.doubt = f"the panel is {PAUSED}"
        super()._pause()

    def _take(self, question: Question) -> int:
        begun = perform(self._client(), question)
        self.commands.add(begun.commands, _doing(question))
        self.note = begun.note
        self.target = len(question.view.workers)
        return question.view.record.id

    def _cancel(self) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            self.commands.cancel()
        except SvcError as error:
            self.problem = error.message
            self.on_change()
            return
        self._look()


def _doing(question: Question) -> str:
    if question.step is Step.RESIZE and question.added > 0:
        return f"adding {question.added} node{'' if question.added == 1 else 's'}"
    return f"removing {question.node or 'a node'}"


def listed(client: Client) -> list[ClusterRecord]:
    """Return the newest clusters, as many as the choice shows, sorted by label."""
    return sorted(client.clusters.list(per_page=LISTED).clusters, key=lambda record: (record.label or ["~"])[0])


def open_cluster(client: Callable[[], Client], wanted: str | None, default: str = "default") -> ClusterModel:
    """Return the model of one cluster's panel, or without a name of all clusters'; asks the service.

    Of all clusters, the one labelled `default` is shown first. Raises the client's errors.
    """
    if wanted is not None:
        return ClusterModel(client, fetch_view(client(), wanted))
    clusters = listed(client())
    if not clusters:
        return ClusterModel(client, None)
    first = next((record for record in clusters if default in record.label), clusters[0])
    return ClusterModel(client, fetch_view(client(), first.id), clusters if len(clusters) > 1 else [])


_LONGEST = 5
"""Maximum number of commands shown, the latest ones."""


@dataclass
class _Followed:
    command: Command
    doing: str
    begun: float
    ended: float | None = None


class FollowedCommands:
    """Commands with a description (`adding 1 node`); each refresh polls those that have not ended."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._all: list[_Followed] = []

    @property
    def are_running(self) -> bool:
        """Whether any command has not ended."""
        return any(one.ended is None for one in self._all)

    def add(self, commands: Sequence[Command], doing: str) -> None:
        """Follow commands from now on; ended ones are forgotten."""
        self._all = [one for one in self._all if one.ended is None]
        self._all += [_Followed(command, doing, self._clock()) for command in commands]

    def refresh(self) -> None:
        """Fetch their status. Raises the client's errors."""
        for one in self._all:
            if one.ended is None and one.command.refresh().ended:
                one.ended = self._clock()

    def cancel(self) -> None:
        """Cancel the running ones. Raises the client's errors."""
        for one in self._all:
            if one.ended is None:
                one.command.cancel()

    def lines(self) -> list[str]:
        """Return a line for each, the latest last."""
        now = self._clock()
        return [_line(one.command.record, one.doing, (one.ended or now) - one.begun) for one in self._all[-_LONGEST:]]


def _line(record: CommandRecord, doing: str, seconds: float) -> str:
    """Return `◐ command 131 · adding 1 node · registered, waiting for RUNNING · 3 s`."""
    status = str(record.status)
    message = " ".join((record.message or "").split())
    suffix = f" · {message}" if message else ""
    taken = record.seconds_taken()
    time = span(seconds) if taken is None else elapsed(taken)
    match status:
        case "done":
            return f"{DONE} command {record.id} · {doing}: done in {time}{suffix}"
        case "error":
            return (
                f"{FAILED} command {record.id} · {doing}: failed after {time}{suffix} · %svc_command {record.id} logs"
            )
        case "cancelled":
            return f"{STOPPED} command {record.id} · {doing}: cancelled after {time}{suffix}"
        case _:
            return f"{RUNNING} command {record.id} · {doing}{suffix or f' · {status}'} · {time}"
