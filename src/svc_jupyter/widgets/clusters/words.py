"""Text about a cluster: pure functions of a view, with the current time as an argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import RUNNING, WORDS_OF_CLUSTERS
from svc_jupyter.clock import as_of_text, time_of_day
from svc_jupyter.durations import span
from svc_jupyter.widgets.clusters.view import ClusterView, engine_words, name_of, size_of

if TYPE_CHECKING:
    from svc_jupyter.api.cluster_health import ServiceHealth
    from svc_jupyter.api.clusters import ClusterNode, ClusterRecord

UP_DOT, OFF_DOT, BAD_DOT, UNKNOWN_DOT = "●", "○", "✗", "?"
ICONS = {"UP": UP_DOT, "DOWN": OFF_DOT, "PENDING": RUNNING, "TERMINATING": RUNNING}
_NOT_STARTED = "not started"
_NODE_WORDS = {"RUNNING": "running", "LOST": "lost"}
START_SECONDS = 12
"""Approximate start time of a local Hadoop cluster (measured on two cores)."""


class Tone(StrEnum):
    """The emphasis of an entry, besides its word."""

    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"
    CALM = "calm"


@dataclass(frozen=True)
class Entry:
    """One entry of health: a dot, a name, its status, and the reason."""

    dot: str
    name: str
    word: str
    tone: Tone
    reason: str = ""

    @property
    def text(self) -> str:
        """Return `● NameNode up`."""
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.dot} {self.name} {self.word}{reason}"


def icon_of(state: str) -> str:
    """Return the icon of a cluster's state; the word always stands beside it."""
    return ICONS.get(state, "·")


def sizes(record: ClusterRecord) -> str:
    """Return `2–4`, or `2` when both are equal."""
    low, high = size_of(record, "initial_nodes"), size_of(record, "max_nodes")
    return f"{low}–{high}" if high > low else str(low)


def instant(text: str | None) -> datetime | None:
    """Return a time of a record; None for a missing or invalid one."""
    try:
        read = datetime.fromisoformat(text) if isinstance(text, str) and text else None
    except ValueError:
        return None
    return read.replace(tzinfo=UTC) if read is not None and read.tzinfo is None else read


def since(text: str | None, now: datetime) -> str:
    """Return the time since a time of a record; empty without one."""
    then = instant(text)
    return span((now - then).total_seconds()) if then is not None else ""


def phase_word(state: str) -> str:
    """Return the word for a cluster's state."""
    return WORDS_OF_CLUSTERS.get(state, state)


def node_word(status: str) -> str:
    """Return the word for a node's status."""
    return _NODE_WORDS.get(status, status)


def state_words(view: ClusterView, now: datetime) -> str:
    """Return `up 2 h 14 min`, `starting 6 s`: the state, and for how long."""
    begun = {"UP": view.state.up_at or view.state.start_at, "PENDING": view.state.start_at}.get(view.phase)
    return " ".join(part for part in (phase_word(view.phase), since(begun, now)) if part)


def title(view: ClusterView, now: datetime) -> str:
    """Return `default · Hadoop · ● up 2 h 14 min`."""
    return f"{view.name} · {engine_words(view.record)} · {icon_of(view.phase)} {state_words(view, now)}"


def choice(record: ClusterRecord) -> str:
    """Return a cluster as a choice of the list, with its state."""
    state = str(record.state)
    return f"{icon_of(state)} {name_of(record)} · {engine_words(record)} · {phase_word(state)}"


def doing(view: ClusterView) -> str:
    """Return the current operation, or why the cluster is down; else empty."""
    if view.is_moving:
        return view.state.message or ("starting" if view.phase == "PENDING" else "terminating")
    if view.phase != "DOWN":
        return ""
    reason = view.state.terminate_reason
    return f"Last: {reason}." if reason else "Never started."


def start_words(view: ClusterView) -> str:
    """Return what a start will do."""
    if view.is_external:
        return "A start connects to it and checks the connection."
    workers = f"{view.minimum} worker{'' if view.minimum == 1 else 's'}"
    return f"A start makes a coordinator and {workers}; about {START_SECONDS} s."


def health_entries(view: ClusterView, doubt: str | None = None) -> list[Entry]:
    """Return an entry for each daemon of an UP cluster. With `doubt`, nothing is known since the view was fetched."""
    if view.health is None:
        reason = view.unread or "the service did not tell"
        return [_unknown("Health", view, reason)] if view.phase == "UP" else []
    daemons = view.health.metrics.daemons
    found: list[Entry] = []
    notebooks = None if view.is_external else daemons.zeppelin
    presto = "Trino" if view.type == "Trino" else "Presto"
    for name, daemon in ((presto, view.health.metrics.engine.presto), ("Spark notebooks", notebooks)):
        if daemon is not None:
            found.append(_with_heap(name, daemon))
    if view.is_external and (spark := view.health.metrics.engine.spark) is not None:
        found.append(_daemon(view.type, str(spark.get("status"))))
    for name, status in (("NameNode", daemons.namenode), ("ResourceManager", daemons.resourcemanager)):
        if status is not None:
            found.append(_daemon(name, status))
    for name, service in (("Hive metastore", daemons.hive_metastore), ("HiveServer2", daemons.hs2_server)):
        if service is not None:
            is_external = view.is_external  # then nothing is known of its heap
            found.append(_daemon(name, service.responsiveness_status) if is_external else _service(name, service))
    if doubt is not None:
        return [_unknown(entry.name, view, doubt if place == 0 else "") for place, entry in enumerate(found)]
    return found


def _daemon(name: str, status: str) -> Entry:
    is_up = status == "UP"
    return Entry(UP_DOT if is_up else BAD_DOT, name, phase_word(status), Tone.GOOD if is_up else Tone.BAD)


def _with_heap(name: str, daemon: Mapping[str, Any]) -> Entry:
    """Return the entry of an engine with a status and a heap."""
    status, heap = str(daemon.get("status")), daemon.get("heap", {})
    if status != "UP":
        return _daemon(name, status)
    return _up(name, str(heap.get("usage_percent")), str(heap.get("status")))


def _up(name: str, usage_percent: str, heap_status: str) -> Entry:
    tone = {"red": Tone.BAD, "yellow": Tone.WARNING}.get(heap_status, Tone.GOOD)
    colour = "" if tone is Tone.GOOD else f", {heap_status}"
    return Entry(UP_DOT, name, f"up, heap {percent(usage_percent)}{colour}", tone)


def _service(name: str, service: ServiceHealth) -> Entry:
    reason = service.reason or ""
    if service.responsiveness_status == "UP":
        return _up(name, service.heap.usage_percent, service.heap.status)
    if reason.startswith(_NOT_STARTED):
        return Entry(OFF_DOT, name, _NOT_STARTED, Tone.CALM, reason.partition(": ")[2])
    return Entry(BAD_DOT, name, phase_word(service.liveliness_status if reason == "" else "DOWN"), Tone.BAD, reason)


def _unknown(name: str, view: ClusterView, reason: str) -> Entry:
    return Entry(UNKNOWN_DOT, name, f"unknown since {time_of_day(view.as_of)}", Tone.CALM, reason)


def percent(text: str) -> str:
    """Return the record's percentage, a text, in readable form."""
    try:
        return f"{float(text):.0f} %"
    except ValueError:
        return text


def worker_words(view: ClusterView, node: ClusterNode, now: datetime) -> tuple[str, str, str, str]:
    """Return a worker's name, status, work and time: `ip-127-0-0-11`, `● running`, `2 containers`, `up 2 h 3 min`.

    Its work is empty where it is not known.
    """
    status = str(node.status)
    icon = {"RUNNING": UP_DOT, "LOST": BAD_DOT}.get(status, RUNNING)
    up = since(node.up_time, now)
    count = view.containers_on(node.private_dns)
    work = "" if count is None else "idle" if count == 0 else containers(count)
    return node.private_dns, f"{icon} {node_word(status)}", work, f"up {up}" if up else ""


def containers(count: int) -> str:
    """Return `2 containers`."""
    return f"{count} container{'' if count == 1 else 's'}"


def workers_line(view: ClusterView) -> str:
    """Return `Workers 2 of 2–4`."""
    return f"Workers {len(view.workers)} of {sizes(view.record)}"


def panel_text(view: ClusterView, now: datetime) -> str:
    """Return the whole view as text, for front ends without widgets."""
    lines = [title(view, now)]
    if activity := doing(view):
        lines.append(f"  {activity}")
    if view.phase == "DOWN":
        lines.append(f"  {start_words(view)} %svc_cluster {view.name} start")
    entries = health_entries(view)
    if entries:
        lines.append("  health   " + "  ".join(entry.text for entry in entries))
    if measured := figures(view):
        lines.append("  " + " · ".join(measured))
    if view.pages:
        lines.append("  pages    " + "  ".join(f"{page.name} {page.url}" for page in view.pages))
    if view.workers:
        lines.append(f"  {workers_line(view)}")
        rows = [worker_words(view, node, now) for node in view.workers]
        lines += [f"    {row}" for row in aligned(rows)]
    lines.append(f"  {as_of_text(view.as_of)}")
    return "\n".join(lines)


def figures(view: ClusterView) -> list[str]:
    """Return the metrics of the coordinator and of YARN as text; none of machines that others run."""
    if view.health is None or view.is_external:
        return []
    metrics = view.health.metrics
    master = metrics.system.master
    found = [f"CPU {percent(master.cpu_usage)}", f"disk {percent(master.disk_usage)}"]
    yarn = metrics.engine.yarn
    if yarn is not None:
        found += [f"YARN memory {percent(yarn.memory)}", f"{yarn.containers.pending} containers pending"]
    return found


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of texts with aligned columns."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))] if rows else []
    return ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
