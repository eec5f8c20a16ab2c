"""`%svc_cluster` and `%svc_clusters`: clusters in a panel, and by actions."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from svc_jupyter.api.status_words import DONE, RUNNING, WORDS_OF_CLUSTERS
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import nearest, output_options, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import plain_reader
from svc_jupyter.magics.cells.running import Run
from svc_jupyter.magics.clusters.waits import ClusterWait
from svc_jupyter.magics.display.errors import SvcMagicError, SvcServiceError, SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.progress import done_line, line_for
from svc_jupyter.magics.display.rendering import Facts
from svc_jupyter.magics.session.session import ask
from svc_jupyter.widgets.clusters.model import open_cluster
from svc_jupyter.widgets.clusters.panel import ClusterPanel, cluster_text
from svc_jupyter.widgets.clusters.steps import Question, Step, obstacle
from svc_jupyter.widgets.clusters.view import ClusterView, engine_words, fetch_view, name_of, size_of
from svc_jupyter.widgets.clusters.words import (
    doing,
    figures,
    health_entries,
    node_word,
    phase_word,
    since,
    state_words,
    title,
    workers_line,
)

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.clusters import ClusterNode, ClusterRecord
    from svc_jupyter.client import Client, Command

VERBS = ("start", "terminate", "state", "health", "nodes", "add", "remove")
_STATES = {word: state for state, word in WORDS_OF_CLUSTERS.items()}
_WITH_VALUE = frozenset({"add", "remove"})


@dataclass(frozen=True)
class ClusterLine:
    """A parsed line; `verb` is None for the panel."""

    cluster: str
    verb: str | None = None
    count: int = 1
    node: str | None = None


def line_of(words: Sequence[str], default: str) -> ClusterLine:
    """Parse the words of a line; without a cluster the verb applies to `default`.

    Raises SvcUsageError.
    """
    rest = list(words)
    cluster = default if not rest or rest[0] in VERBS else rest.pop(0)
    if not rest:
        return ClusterLine(cluster)
    verb, values = rest[0], rest[1:]
    if verb not in VERBS:
        raise SvcUsageError(
            f"svc_cluster: {verb!r} is not a verb.{nearest(verb, list(VERBS))} Verbs: {', '.join(VERBS)}, "
            "as in %svc_cluster default start"
        )
    if len(values) > (verb in _WITH_VALUE):
        raise SvcUsageError(f"svc_cluster: {values[-1]!r} is one word too many after {verb}")
    if verb == "add":
        return ClusterLine(cluster, verb, count=_count(values[0]) if values else 1)
    return ClusterLine(cluster, verb, node=values[0] if values else None)


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit()) or int(word) < 1:
        raise SvcUsageError(f"svc_cluster add: takes a number of workers, 1 or more, not {word!r}")
    return int(word)


T = TypeVar("T")
DEFAULT_LABEL = "default"


class ClusterMagics(SvcFamily):
    """The magics for clusters."""

    @line_magic
    @argument("words", metavar="[CLUSTER] [VERB]", nargs="*", help="Label or id, and one of " + ", ".join(VERBS))
    @argument("--yes", action="store_true", help="Terminate, remove or exceed max_nodes without confirmation.")
    @argument("--no-wait", action="store_true", help="Start it and return at once.")
    @argument("--quiet", action="store_true", help="Show only errors.")
    @output_options
    def svc_cluster(self, line: str) -> Any:
        """Show a cluster in a panel: its state, health and workers, with buttons to start, terminate, add and remove.

        With a verb: `%svc_cluster etl start`, `terminate --yes`, `state`, `health`, `nodes`, `add 2`, `remove --yes`,
        `remove ip-127-0-0-11 --yes`. The default label is the setting default_label, or `default`.
        """
        values = parse(self.svc_cluster, line)
        wanted = line_of(values.words, self.session.settings.default_label or DEFAULT_LABEL)
        if wanted.verb is None:
            named = values.words[0] if values.words else None
            default = self.session.settings.default_label or DEFAULT_LABEL
            model = self._found(wanted.cluster, lambda: open_cluster(self.session.client, named, default))
            return self.keep(values, self.open_panel(lambda: ClusterPanel(model), lambda: cluster_text(model)))
        view = self._found(wanted.cluster, lambda: fetch_view(self.session.client(), wanted.cluster))
        return self._do(wanted, view, values)

    def _found(self, cluster: str, look: Callable[[], T]) -> T:
        """Look a cluster up; the error for an unknown one lists the known ones."""
        from svc_jupyter.client.errors import NotFound

        try:
            return ask(look, "cluster")
        except SvcServiceError as error:
            if not isinstance(error.__cause__, NotFound):
                raise
            labels = ask(
                lambda: [label for one in self.session.client().clusters.iter() for label in one.label], "list"
            )
            near = nearest(cluster, [*labels, *VERBS])
            raise SvcServiceError(f"{error}.{near} There are: {', '.join(labels) or 'none'}") from error.__cause__

    def _do(self, wanted: ClusterLine, view: ClusterView, values: argparse.Namespace) -> Any:
        now = datetime.now(UTC)
        match wanted.verb:
            case "state":
                return self.keep(values, Facts(f"cluster {view.name}", state_facts(view, now)))
            case "health":
                return self.keep(values, self._health(view, now))
            case "nodes":
                return self._nodes(view, now, values)
            case "start":
                return self._move(view, "UP", values)
            case "terminate":
                ends = view.phase in ("PENDING", "UP")
                if ends and not self._may(Question(Step.TERMINATE, view), values):
                    return None
                return self._move(view, "DOWN", values)
            case "add":
                return self._add(view, wanted.count, values)
            case _:
                return self._remove(view, wanted.node, values)

    def _health(self, view: ClusterView, now: datetime) -> Facts:
        if view.phase != "UP":
            raise SvcMagicError(
                f"cluster {view.name} is {view.phase}: only a cluster that is UP has health\n"
                f"  %svc_cluster {view.name} start"
            )
        return Facts(title(view, now), health_facts(view))

    def _nodes(self, view: ClusterView, now: datetime, values: argparse.Namespace) -> pd.DataFrame:
        frame = nodes_frame(view.state.nodes, now)
        return self.shown(values, frame)

    def _move(self, view: ClusterView, wanted: str, values: argparse.Namespace) -> None:
        """Start or terminate a cluster; one in that state, or on its way, is not an error: a notebook may run again."""
        line = line_for(self.shell, quiet=values.quiet)
        if view.phase == wanted:
            line.finish(f"{DONE} cluster {view.name} · {state_words(view, datetime.now(UTC))} already")
            return
        clusters = self.session.client().clusters
        begin, on_its_way = (clusters.start, "PENDING") if wanted == "UP" else (clusters.terminate, "TERMINATING")
        if view.phase != on_its_way:
            message = ask(lambda: begin(view.record.id), "cluster").message
            if values.no_wait:
                line.finish(f"{RUNNING} {message} · %svc_cluster {view.name} state")
        if not values.no_wait:
            ClusterWait(self.session.client(), view.record.id, view.name, wanted, line).to_end()

    def _may(self, question: Question, values: argparse.Namespace) -> bool:
        """Return whether a step is confirmed; else print what it would do."""
        if not values.yes:
            print(f"{question.text}\n  Nothing was done. Add --yes to do it.")  # noqa: T201  the answer to the line
        return bool(values.yes)

    def _add(self, view: ClusterView, count: int, values: argparse.Namespace) -> CommandHandle | None:
        target = len(view.workers) + count
        above = view.phase == "UP" and view.workers and view.maximum and target > view.maximum
        if above and not self._may(Question(Step.RESIZE, view, target), values):
            return None
        return self._run(view, values, lambda client: client.clusters.add_nodes(view.record.id, count))

    def _remove(self, view: ClusterView, node: str | None, values: argparse.Namespace) -> CommandHandle | None:
        target = len(view.workers) - 1
        step = Step.REMOVE if node else Step.RESIZE
        is_possible = view.phase != "UP" or obstacle(view, target) is None  # otherwise the service explains why not
        if is_possible and not self._may(Question(step, view, target, node), values):
            return None
        return self._run(view, values, lambda client: client.clusters.remove_node(view.record.id, node))

    def _run(
        self, view: ClusterView, values: argparse.Namespace, begin: Callable[[Client], Command]
    ) -> CommandHandle | None:
        """Follow the command of a node operation to its end; an interrupt cancels it, which reverts the operation."""
        line = line_for(self.shell, quiet=values.quiet)
        origin = Origin("cluster", target=f"cluster {view.name}")
        run = Run(lambda: begin(self.session.client()), plain_reader, origin, line)
        if values.no_wait:
            handle = CommandHandle(run.submitted(), self.shell, plain_reader, origin, self.load_limit(values))
            return self.keep(values, handle)
        run.to_end()
        assert run.command is not None
        state = ask(lambda: self.session.client().clusters.state(view.record.id), "cluster")
        workers = sum(str(node.role) == "worker" for node in state.nodes)
        size = [f"cluster {view.name} has {workers} worker{'' if workers == 1 else 's'} now"] if state.nodes else []
        line.finish(done_line(run.command.id, run.seconds, size))
        return None

    @line_magic
    @argument("--state", metavar="STATE", help="Only clusters in this state: down, starting, up, terminating.")
    @output_options
    def svc_clusters(self, line: str) -> pd.DataFrame:
        """Return the clusters that you may read as a DataFrame, newest first."""
        values = parse(self.svc_clusters, line)
        state = _STATES.get(values.state, values.state)
        records = ask(lambda: list(self.session.client().clusters.iter(state=state)), "clusters")
        frame = clusters_frame(records)
        return self.shown(values, frame)


CLUSTER_COLUMNS = ("id", "label", "type", "state", "initial_nodes", "max_nodes", "labels")
NODE_COLUMNS = ("private_dns", "role", "status", "private_ip", "instance_type", "up")


def clusters_frame(records: Iterable[ClusterRecord]) -> pd.DataFrame:
    """Return a row per cluster."""
    rows = [
        (
            record.id,
            name_of(record),
            engine_words(record),
            phase_word(str(record.state)),
            size_of(record, "initial_nodes"),
            size_of(record, "max_nodes"),
            list(record.label),
        )
        for record in records
    ]
    return frame_of(CLUSTER_COLUMNS, rows)


def nodes_frame(nodes: Iterable[ClusterNode], now: datetime) -> pd.DataFrame:
    """Return a row per node, the coordinator first; `up` is its uptime."""
    rows = [
        (
            node.private_dns,
            str(node.role),
            node_word(str(node.status)),
            node.private_ip,
            node.instance_type,
            since(node.up_time, now),
        )
        for node in nodes
    ]
    return frame_of(NODE_COLUMNS, rows)


def state_facts(view: ClusterView, now: datetime) -> list[tuple[str, str]]:
    """Return the facts of a cluster's state."""
    facts = [("state", state_words(view, now)), ("type", engine_words(view.record))]
    if activity := doing(view):
        facts.append(("last" if view.phase == "DOWN" else "doing", activity.removeprefix("Last: ")))
    if view.phase == "UP":
        facts.append(("workers", workers_line(view).removeprefix("Workers ")))
    return facts


def health_facts(view: ClusterView) -> list[tuple[str, str]]:
    """Return the state of each daemon, and the metrics."""
    facts = []
    for entry in health_entries(view):
        reason = f" ({entry.reason})" if entry.reason else ""
        facts.append((entry.name, f"{entry.dot} {entry.word}{reason}"))
    if view.health is not None:
        facts.append(("figures", " · ".join(figures(view))))
    return facts
