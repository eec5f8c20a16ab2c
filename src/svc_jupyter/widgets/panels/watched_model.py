"""The base of the panels' models: a question to confirm, a step in progress, an error, and refreshing."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from svc_jupyter.widgets.panels.worker import PanelWorker, unexpected

if TYPE_CHECKING:
    from svc_jupyter.client import Client

Question = TypeVar("Question")
"""A step with everything that its confirmation shows."""
PAUSED = "paused because it was not used for a long time; Refresh resumes it"
Clock = Callable[[], datetime]
"""Returns the current time, with its zone."""


class AskingModel(Generic[Question]):
    """The state of one panel that asks for confirmation.

    `on_change` is called after each change, in the thread that made it. Methods called by buttons run on the kernel's
    main thread and never block; the rest runs in the panel's own thread.
    """

    def __init__(self, client: Callable[[], Client], worker: PanelWorker) -> None:
        self.question: Question | None = None
        self.problem: str | None = None
        self.note = ""
        self.working = False
        self.on_change: Callable[[], None] = lambda: None
        self.worker = worker
        self._client = client
        self._lock = threading.RLock()

    def dismiss(self) -> None:
        """Dismiss the question."""
        with self._lock:
            self.question = None
        self.on_change()

    def _fail(self, error: Exception) -> None:
        """Show an unexpected error and end the current step."""
        with self._lock:
            self.problem = unexpected(error)
            self.working = False
        self.on_change()


class WatchedModel(AskingModel[Question], ABC):
    """An asking model that refreshes its state."""

    def __init__(self, client: Callable[[], Client], clock: Clock) -> None:
        worker = PanelWorker(self._look, self.period, on_pause=self._pause, on_failure=self._fail)
        super().__init__(client, worker)
        self.clock = clock

    @abstractmethod
    def period(self) -> float:
        """Return the seconds between two refreshes."""

    def confirm(self) -> None:
        """Perform the step of the question, once."""
        with self._lock:
            question, self.question = self.question, None
            if question is None:
                return
            self.working = True
        self.on_change()
        self.worker.submit(lambda: self._perform(question))

    def refresh(self) -> None:
        """Refresh now."""
        self.worker.submit(self._look)

    def choose(self, number: int) -> None:
        """Show another object of the list, by its id; dismisses a question about the previous one."""
        with self._lock:
            self.question = None
            self.note = ""
        self.worker.submit(lambda: self._fetch(number))

    @abstractmethod
    def _look(self) -> None:
        """Refresh the state."""

    @abstractmethod
    def _fetch(self, number: int) -> None:
        """Fetch and show the object with this id, or why it cannot be shown."""

    @abstractmethod
    def _take(self, question: Question) -> int:
        """Perform the confirmed step and store its message; return the id of the object to show then.

        Raises the client's errors.
        """

    def _pause(self) -> None:
        """Show that the panel has paused."""
        self.on_change()

    def _perform(self, question: Question) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            number = self._take(question)
        except SvcError as error:
            self.problem = error.message
            self.working = False
            self.on_change()
            return
        self.working = False
        self._fetch(number)
