"""The cluster panel's widgets, pressed as a front end presses them, with a service behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.magics.service_double import ServiceDouble, wait_until
from tests.widgets.conftest import NOW

from svc_jupyter.client import Client
from svc_jupyter.widgets.clusters.model import open_cluster
from svc_jupyter.widgets.clusters.panel import ClusterPanel
from svc_jupyter.widgets.panels.worker import UNTOUCHED_SECONDS


@pytest.fixture
def service() -> Iterator[ServiceDouble]:
    """Most of what the panel shows are extensions; the bare service has a test of its own."""
    with ServiceDouble() as double:
        yield double


@pytest.fixture
def panels(client: Client) -> Iterator[Any]:
    opened: list[ClusterPanel] = []

    def open_one(wanted: str | None = "default") -> ClusterPanel:
        model = open_cluster(lambda: client, wanted)
        model.clock = lambda: NOW
        opened.append(ClusterPanel(model))
        settle(opened[-1], look=True)
        return opened[-1]

    yield open_one
    for panel in opened:
        panel.close()


@pytest.fixture
def up(service: ServiceDouble, panels: Any) -> ClusterPanel:
    service.clusters.add(state="UP")
    panel: ClusterPanel = panels()
    return panel


def settle(panel: ClusterPanel, *, look: bool = False) -> None:
    """Wait until all that was asked of the panel's thread is done."""
    if look:
        panel.model.refresh()
    ended = threading.Event()
    panel.model.worker.submit(ended.set)
    assert ended.wait(20)


def buttons(panel: ClusterPanel, name: str) -> list[Any]:
    rows = [button for _, _, button in panel._workers._rows.values()]
    return [part for part in [*panel._parts, *rows] if getattr(part, "description", None) == name]


def press(panel: ClusterPanel, name: str) -> None:
    """Press the button with this text, which must be there and enabled; wait until what it began is done."""
    [button] = buttons(panel, name)
    assert not button.disabled
    button.click()
    settle(panel)


def shown(part: Any) -> bool:
    return bool(part.layout.display != "none")


def workers(panel: ClusterPanel) -> list[str]:
    return list(panel._workers._rows)


def test_it_shows_state_daemons_plots_and_workers(up: ClusterPanel) -> None:
    assert "<b>default</b></span> · Hadoop" in up._title.value
    assert "● UP 2 h 14 m" in up._title.value
    assert "namenode <b>UP</b>" in up._health.value
    assert "hive metastore <b>UP, heap 41 %</b>" in up._health.value
    assert 'aria-label="CPU over 10 minutes: from 20 to 29, last 29"' in up._plots.value
    assert "Workers 2 of 2 to 4" in up._count.value
    assert workers(up) == ["ip-127-0-0-11", "ip-127-0-0-12"]
    assert "refreshes every 5 s while visible" in up._foot.value
    assert "#" not in up._health.value + up._plots.value  # no colour but the theme's


def test_presto_and_what_notebooks_talk_to_are_shown_with_their_heaps(service: ServiceDouble, up: ClusterPanel) -> None:
    full = {"status": "UP", "heap": {"usage_percent": "84.4", "status": "yellow"}}
    service.clusters.engine = {"presto": full}
    service.clusters.daemons["zeppelin"] = {"status": "DOWN", "heap": {"usage_percent": "0.0", "status": "red"}}
    settle(up, look=True)
    assert "presto <b>UP, heap 84 %, yellow</b>" in up._health.value
    assert "✗</span> notebooks <b>DOWN</b>" in up._health.value


def test_a_daemon_that_is_down_is_told_with_its_reason(service: ServiceDouble, up: ClusterPanel) -> None:
    silent = {"responsiveness_status": "DOWN", "liveliness_status": "UP", "reason": "it does not answer <1>"}
    heap = {"heap": {"usage_percent": "0.0", "status": "red"}}
    service.clusters.daemons = {"hive_metastore": silent | heap, "namenode": "UP", "resourcemanager": "DOWN"}
    settle(up, look=True)
    assert "✗</span> resourcemanager <b>DOWN</b>" in up._health.value
    assert "(it does not answer &lt;1&gt;)" in up._health.value
    assert "--jp-error-color1" in up._health.value


def test_what_the_service_does_not_tell_is_unknown_and_never_green(service: ServiceDouble, up: ClusterPanel) -> None:
    service.refusal = (403, "you may not: cluster, read")
    up.model.clock = lambda: NOW + timedelta(minutes=1)
    settle(up, look=True)
    assert "unknown since" in up._title.value
    assert "namenode <b>unknown since" in up._health.value
    assert "--jp-success-color1" not in up._title.value + up._health.value
    assert up._plots.value == ""
    assert "you may not: cluster, read" in up._problem.value
    assert all(button.disabled for button in buttons(up, "Terminate…"))
    service.refusal = None
    press(up, "Try again")
    assert not shown(up._failing)
    assert "--jp-success-color1" in up._health.value


def test_a_service_that_hangs_makes_it_unknown_and_holds_nothing_up(
    service: ServiceDouble, up: ClusterPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_jupyter.widgets.clusters.model.LATE_SECONDS", 0.05)
    service.stuck = threading.Event()
    up._refresh.click()  # returns at once
    wait_until(lambda: "namenode <b>unknown since" in up._health.value)
    service.stuck.set()
    settle(up)
    assert "namenode <b>UP</b>" in up._health.value


def test_workers_are_added_after_a_yes_and_the_command_is_followed(service: ServiceDouble, up: ClusterPanel) -> None:
    service.behave("add 1", held=True)
    up._more.click()
    press(up, "Apply…")
    assert "Add 1 worker to default, so that it has 3?" in up._question.value
    assert service.clusters.asked == []
    press(up, "Add 1 worker")
    assert service.clusters.asked == [("POST", "nodes", {"node_count": 1})]
    service.change(128, message="ip-127-0-0-13: registered, waiting for RUNNING")
    settle(up, look=True)
    assert "◐ command 128 · adding 1 node · ip-127-0-0-13: registered, waiting for RUNNING" in up._commands.value
    assert up.model.period() == 1
    assert "refreshes every second" in up._foot.value
    service.end(128)
    settle(up, look=True)
    assert "✓ command 128 · adding 1 node: done in" in up._commands.value
    assert len(workers(up)) == 3
    assert up._target.value == 3
    assert up.model.period() == 5


def test_a_command_that_it_began_can_be_cancelled(service: ServiceDouble, up: ClusterPanel) -> None:
    service.behave("add 1", held=True)
    up._target.value = 3
    press(up, "Apply…")
    press(up, "Add 1 worker")
    press(up, "Cancel")
    assert "■ command 128 · adding 1 node: cancelled" in up._commands.value
    assert not shown(up._cancel)


def test_a_command_that_fails_is_told_with_the_way_to_its_log(service: ServiceDouble, up: ClusterPanel) -> None:
    service.behave("add 1", status="error", message="the provider can make 16 nodes")
    up._more.click()
    press(up, "Apply…")
    press(up, "Add 1 worker")
    assert "failed after 00:00 · the provider can make 16 nodes · %svc_command 128 logs" in up._commands.value


def test_more_than_the_maximum_is_warned_of(service: ServiceDouble, up: ClusterPanel) -> None:
    up._target.value = 5
    press(up, "Apply…")
    assert "5 is above this cluster&#x27;s maximum of 4. The service does not check it." in up._question.value
    press(up, "No, leave it")
    assert service.clusters.asked == []
    assert up._target.value == 2


def test_below_the_minimum_there_is_no_way_and_it_says_why(up: ClusterPanel) -> None:
    assert all(button.disabled for button in buttons(up, "Remove…"))
    up._fewer.click()
    assert "1 is below its minimum of 2" in up._why_not.value
    assert buttons(up, "Apply…")[0].disabled


def test_a_worker_is_removed_by_name(service: ServiceDouble, up: ClusterPanel) -> None:
    up._more.click()
    press(up, "Apply…")
    press(up, "Add 1 worker")
    buttons(up, "Remove…")[0].click()
    assert "Remove ip-127-0-0-11? It takes no new work, finishes what runs on it" in up._question.value
    press(up, "Remove ip-127-0-0-11")
    assert service.clusters.asked[-1] == ("DELETE", "nodes", {"private_dns": "ip-127-0-0-11"})
    assert "ip-127-0-0-11" not in workers(up)


def test_a_cluster_is_terminated_and_started_again(service: ServiceDouble, up: ClusterPanel) -> None:
    press(up, "Terminate…")
    assert "HDFS and logs are gone for good" in up._question.value
    press(up, "Terminate default")
    assert "○ DOWN" in up._title.value
    assert "terminated by ann@example.com. A start makes a coordinator and 2 workers" in up._situation.value
    assert not shown(up._sizing)
    service.clusters.starts_at_once = False
    press(up, "Start")
    assert "◐ PENDING" in up._title.value
    assert up.model.period() == 1
    assert [body for _, _, body in service.clusters.asked] == [{"state": "terminate"}, {"state": "start"}]


def test_nodes_of_a_spark_cluster_cannot_be_changed_and_it_says_so(service: ServiceDouble, panels: Any) -> None:
    service.clusters.add("spark", state="UP", hadoop_settings={"use_spark": True})
    panel = panels("spark")
    assert "Node changes are not supported for Spark clusters" in panel._why_not.value
    assert panel._more.disabled
    assert panel._target.disabled
    assert all(button.disabled for button in buttons(panel, "Remove…"))


def test_one_of_several_clusters_is_chosen(service: ServiceDouble, panels: Any) -> None:
    service.clusters.add()
    service.clusters.add("etl", state="UP")
    panel = panels(None)
    assert [text for text, _ in panel._chooser.options] == ["○ default · Hadoop · DOWN", "● etl · Hadoop · UP"]
    panel._chooser.value = 2
    settle(panel)
    assert "<b>etl</b>" in panel._title.value
    assert panel._target.value == 2


def test_it_looks_by_itself_only_while_it_is_seen(
    service: ServiceDouble, up: ClusterPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_jupyter.widgets.clusters.model.CALM_SECONDS", 0.01)
    service.clusters.move(1, "DOWN")
    up.box._view_count = 1
    wait_until(lambda: "DOWN" in up._title.value)
    up.box._view_count = 0
    settle(up)
    requests = len(service.requests)
    settle(up)
    assert len(service.requests) == requests


def test_left_open_it_says_that_it_looks_no_more(up: ClusterPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    later = up.model.worker._clock() + UNTOUCHED_SECONDS + 60
    up.box._view_count = 1
    monkeypatch.setattr(up.model.worker, "_clock", lambda: later)
    with up.model.worker._changed:
        up.model.worker._changed.notify()
    wait_until(lambda: "the panel is paused" in up._foot.value)
    assert "unknown since" in up._health.value


def test_a_closed_panel_ends_its_thread(up: ClusterPanel) -> None:
    thread = up.model.worker._thread
    assert thread is not None
    up.close()
    thread.join(20)
    assert not thread.is_alive()


def test_a_bare_service_shows_what_it_tells(panels: Any, service: ServiceDouble) -> None:
    service.clusters.bare = True
    service.clusters.add(state="UP")
    panel = panels()
    assert "● UP" in panel._title.value
    assert "CPU 23 % · disk 12 %" in panel._plots.value
    assert repr(panel).startswith("default · Hadoop · ● UP\n  health   ● namenode UP")
