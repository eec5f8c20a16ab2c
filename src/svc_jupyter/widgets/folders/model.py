"""The logic of the folder browser, without widgets: its state, its questions and its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from svc_jupyter.widgets.folders.branches import (
    NOTHING_OPEN,
    Branches,
    fetch_again,
    fetch_branch,
    fetch_more,
    fetch_way,
)
from svc_jupyter.widgets.folders.items import Item, Kind, trees
from svc_jupyter.widgets.folders.steps import Done, Question, Step, perform, possible_steps
from svc_jupyter.widgets.panels.watched_model import AskingModel
from svc_jupyter.widgets.panels.worker import PanelWorker

if TYPE_CHECKING:
    from svc_jupyter.client import Client

COMMON = "Common"


class FolderModel(AskingModel[Question]):
    """The state of one browser. It asks the service only when the user opens a folder or performs a step."""

    def __init__(self, client: Callable[[], Client], branches: Branches = NOTHING_OPEN, at: Item | None = None) -> None:
        # The panel never reports its visibility, so the worker never refreshes.
        super().__init__(client, PanelWorker(lambda: None, lambda: 0.0, on_failure=self._fail))
        self.branches = branches
        self.selected = at
        self.revealed = 0
        """Incremented when a step moves the selected item."""
        self._again: Callable[[], None] = self._look

    @property
    def steps(self) -> set[Step]:
        """The steps possible now: none during a question or a step."""
        return set() if self.question is not None or self.working else possible_steps(self.selected)

    # Called by the buttons on the kernel's main thread: nothing here blocks.

    def press(self, item: Item) -> None:
        """Select an item and open or close it; during a move, choose it as the destination."""
        with self._lock:
            if self.question is not None and self.question.step is not Step.MOVE:
                self.question = None
            moving = self.question
            before = self.selected if moving is None else moving.destination
            if moving is None:
                self.selected = item
            else:
                self.question = replace(moving, destination=item)
            is_open = item.key in self.branches.open
            if is_open and before is not None and before.key == item.key:
                self.branches = self.branches.closed(item)
        self.on_change()
        if item.opens and not is_open:
            self._do(lambda: self._open(item))

    def more(self, item: Item) -> None:
        """Show more items of a folder."""
        self._do(lambda: self._more(item))

    def ask(self, step: Step) -> None:
        """Ask for the input of a step; the service says what a deletion would delete."""
        with self._lock:
            item = self.selected
            if item is None or step not in self.steps:
                return
            self.note = ""
            if step is not Step.DELETE or item.kind is not Kind.FOLDER:
                self.question = Question(step, item)
        if self.question is None:
            self._do(lambda: self._ask_deletion(item))
        else:
            self.on_change()

    def confirm(self, name: str = "") -> None:
        """Perform the step of the question, once; `name` is the entered text."""
        with self._lock:
            question = self.question
            if question is None or self.working or (question.needs_name and not name.strip()):
                return
            if question.step is Step.MOVE and question.obstacle:
                return
            self.question = None
        self._do(lambda: self._perform(question, name.strip()))

    def refresh(self) -> None:
        """Refresh all open folders."""
        self._do(self._look)

    def retry(self) -> None:
        """Retry a failed read; the user must repeat a refused change."""
        self._do(self._again)

    # Below: the panel's own thread.

    def _do(self, job: Callable[[], None]) -> None:
        with self._lock:
            self.working = True
        self.on_change()
        self.worker.submit(lambda: self._run(job))

    def _run(self, job: Callable[[], None]) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            job()
        except SvcError as error:
            self.problem = error.message
        else:
            self.problem = None
        self.working = False
        self.on_change()

    def _open(self, item: Item) -> None:
        self._again = lambda: self._open(item)
        branch = fetch_branch(self._client(), item)
        with self._lock:
            self.branches = self.branches.with_branch(item, branch)

    def _more(self, item: Item) -> None:
        self._again = lambda: self._more(item)
        branch = self.branches.open.get(item.key)
        if branch is not None:
            branch = fetch_more(self._client(), item, branch)
            with self._lock:
                self.branches = self.branches.with_branch(item, branch)

    def _look(self) -> None:
        self._again = self._look
        branches = fetch_again(self._client(), set(self.branches.open))
        with self._lock:
            self._show(branches)

    def _ask_deletion(self, item: Item) -> None:
        self._again = self._look
        found = self._client().folders.deletion(item.id, folder_type=item.folder_type)
        with self._lock:
            if self.selected == item and self.question is None:
                self.question = Question(Step.DELETE, item, consequences=None if found is None else found.message)

    def _perform(self, question: Question, name: str) -> None:
        self._again = self._look
        done = perform(self._client(), question, name)
        self.note = done.text
        self._show_done(question, done)

    def _show_done(self, question: Question, done: Done) -> None:
        """Show the item at its new place, or the former folder of a deleted item."""
        wanted = set(self.branches.open) | ({done.opened} if done.opened else set())
        branches = fetch_again(self._client(), wanted)
        with self._lock:
            item = branches.find(done.key) if done.key else None
            self.selected = item or branches.at(question.item.folder_type, question.item.parent)
            self._show(branches)
            self.revealed += 1

    def _show(self, branches: Branches) -> None:
        self.branches = branches
        if self.selected is not None:
            self.selected = branches.find(self.selected.key)


def open_folders(client: Callable[[], Client], folder_type: str, location: str | None) -> FolderModel:
    """Return the model of a browser opened at a location, by default `Common`; asks the service.

    Raises the client's errors.
    """
    branches = NOTHING_OPEN
    for tree in trees():
        branches = branches.with_branch(tree, fetch_branch(client(), tree))
    if location is None and branches.at(folder_type, COMMON) is None:
        return FolderModel(client, branches)
    branches, item = fetch_way(client(), branches, folder_type, location or COMMON)
    return FolderModel(client, branches, item)
