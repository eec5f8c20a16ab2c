"""The steps that a user can take in a cluster's panel, and their confirmation: once, by name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from svc_jupyter.widgets.clusters.view import ClusterView
from svc_jupyter.widgets.clusters.words import containers, phase_word, sizes, start_words

if TYPE_CHECKING:
    from svc_jupyter.client import Client, Command

SPARK_REFUSAL = "Node changes are not supported for Spark clusters"
EXTERNAL_REFUSAL = "nodes of an external cluster are added and removed by those who run it"


class Step(StrEnum):
    """A change that the panel can make."""

    START = "Start"
    TERMINATE = "Terminate"
    RESIZE = "Apply"
    REMOVE = "Remove"


@dataclass(frozen=True)
class Question:
    """A step that waits for its confirmation; `target` is the number of workers, `node` the worker to remove."""

    step: Step
    view: ClusterView
    target: int = 0
    node: str | None = None

    @property
    def added(self) -> int:
        """The number of workers that a new size adds; negative when it removes some."""
        return self.target - len(self.view.workers)

    @property
    def text(self) -> str:
        """The question: the step, the cluster and the consequences."""
        view = self.view
        match self.step:
            case Step.START:
                return f"Start {view.name}? {start_words(view)}"
            case Step.TERMINATE if view.is_external:
                return (
                    f"Let go of {view.name}? What runs on it for this service or waits for it ends in error; the "
                    "cluster itself continues."
                )
            case Step.TERMINATE:
                return (
                    f"Terminate {view.name}? What runs on it or waits for it ends in error; its HDFS and logs are "
                    "gone for good. What is in the account's storage stays."
                )
            case Step.REMOVE:
                count = view.containers_on(self.node or "")
                work = f"its {containers(count)}" if count else "what runs on it"
                return f"Remove {self.node}? It takes no new work, finishes {work}, then leaves."
            case Step.RESIZE:
                return self._resize_text()

    def _resize_text(self) -> str:
        view = self.view
        if self.added < 0:
            leaving = "The idlest worker leaves" if self.added == -1 else "The idlest workers leave"
            return f"Remove {_workers(-self.added)} from {view.name}? {leaving}, after what runs there has finished."
        if view.maximum and self.target > view.maximum:
            return (
                f"{self.target} is above this cluster's maximum of {view.maximum}. The service does not check it. "
                "Add anyway?"
            )
        return f"Add {_workers(self.added)} to {view.name}, so that it has {self.target}?"

    @property
    def yes(self) -> str:
        """The label of the confirming button; it names the object."""
        match self.step:
            case Step.REMOVE:
                return f"Remove {self.node}"
            case Step.RESIZE:
                return f"Add {_workers(self.added)}" if self.added > 0 else f"Remove {_workers(-self.added)}"
            case _:
                return f"{self.step} {self.view.name}"


def possible_steps(view: ClusterView) -> set[Step]:
    """Return the steps possible in the cluster's state."""
    match view.phase:
        case "DOWN":
            return {Step.START}
        case "PENDING":
            return {Step.TERMINATE}
        case "UP" if view.type == "Spark" or view.is_external:
            return {Step.TERMINATE}
        case "UP":
            return {Step.TERMINATE, Step.RESIZE, Step.REMOVE}
        case _:
            return set()


def obstacle(view: ClusterView, target: int) -> str | None:
    """Return why the cluster cannot get this many workers, or None if nothing visible here prevents it."""
    if view.is_external:
        return EXTERNAL_REFUSAL
    if view.type == "Spark":
        return SPARK_REFUSAL
    if target < 1:
        return "a cluster has at least 1 worker"
    if view.type == "Hadoop" and target < min(view.minimum, len(view.workers)):
        return f"{target} is below its minimum of {view.minimum} ({sizes(view.record)}): Hadoop stays at that size"
    return None


def removal_obstacle(view: ClusterView) -> str | None:
    """Return why the cluster cannot lose a worker, or None if nothing visible here prevents it."""
    if Step.REMOVE not in possible_steps(view):
        is_fixed = view.is_external or view.type == "Spark"
        return obstacle(view, len(view.workers)) if is_fixed else f"the cluster is {phase_word(view.phase)}"
    return obstacle(view, len(view.workers) - 1)


@dataclass(frozen=True)
class Begun:
    """The result of a step: the commands it started, and a message."""

    commands: tuple[Command, ...] = ()
    note: str = ""


def perform(client: Client, question: Question) -> Begun:
    """Perform the confirmed step. Raises the client's errors."""
    cluster = question.view.record.id
    match question.step:
        case Step.START:
            client.clusters.start(cluster)
            return Begun()
        case Step.TERMINATE:
            client.clusters.terminate(cluster)
            return Begun()
        case Step.REMOVE:
            return Begun((client.clusters.remove_node(cluster, question.node),))
        case Step.RESIZE:
            if question.added > 0:
                return Begun((client.clusters.add_nodes(cluster, question.added),))
            return _removed(client, cluster, -question.added)


def _removed(client: Client, cluster: int, count: int) -> Begun:
    """Remove several workers; commands already started are followed even if the service refuses a later one."""
    from svc_jupyter.client.errors import StatusError

    begun: list[Command] = []
    for _ in range(count):
        try:
            begun.append(client.clusters.remove_node(cluster))
        except StatusError as error:
            if not begun:
                raise
            return Begun(tuple(begun), f"{len(begun)} of {count} removals were begun: {error.message}")
    return Begun(tuple(begun))


def _workers(count: int) -> str:
    return f"{count} worker{'' if count == 1 else 's'}"
