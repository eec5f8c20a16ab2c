"""The cluster panel's widgets, pressed as a front end presses them, with a service behind."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.support.double.service import ServiceDouble
from tests.support.service_process import wait_until
from tests.widgets.conftest import NOW
from tests.widgets.screen import Screen, finish

from svc_jupyter.client import Client
from svc_jupyter.widgets.clusters.model import open_cluster
from svc_jupyter.widgets.clusters.panel import ClusterPanel
from svc_jupyter.widgets.clusters.words import panel_text


@pytest.fixture
def panels(client: Client) -> Iterator[Any]:
    opened: list[Screen] = []

    def open_one(wanted: str | None = "default") -> Screen:
        model = open_cluster(lambda: client, wanted)
        model.clock = lambda: NOW
        opened.append(Screen(ClusterPanel(model)))
        opened[-1].look()
        return opened[-1]

    yield open_one
    for screen in opened:
        screen.panel.close()


@pytest.fixture
def up(service: ServiceDouble, panels: Any) -> Screen:
    service.clusters.add(state="UP")
    screen: Screen = panels()
    return screen


def workers(up: Screen) -> list[str]:
    """The names of the workers, as their buttons have them."""
    return [str(button.tooltip).split()[1].rstrip(":") for button in up.buttons("Remove…")]


def test_it_shows_state_daemons_plots_and_workers(up: Screen) -> None:
    assert "<b>default</b></span> · Hadoop" in up.text
    assert "● up 2 h 14 min" in up.text
    assert "NameNode <b>up</b>" in up.text
    assert "Hive metastore <b>up, heap 41 %</b>" in up.text
    assert 'aria-label="CPU over 10 minutes: from 20 to 29, last 29"' in up.text
    assert "Workers 2 of 2–4" in up.text
    assert workers(up) == ["ip-127-0-0-11", "ip-127-0-0-12"]
    assert "refreshes every 5 s while visible" in up.text
    assert not re.search(r"#[0-9a-fA-F]{3}", up.text)  # no colour but the theme's


def test_the_engines_pages_are_links_and_no_page_is_a_script(service: ServiceDouble, up: Screen) -> None:
    assert "pages" not in up.text
    pages = [("YARN", 'http://127.0.0.1:8088/"<b>'), ("Bad", "javascript:alert(1)"), ("<Spark>", "https://a.example/")]
    service.clusters.pages = [{"name": name, "url": url} for name, url in pages]
    up.look()
    assert re.findall(r'href="([^"]*)"[^>]*>([^<]*)</a>', up.text) == [
        ("http://127.0.0.1:8088/&quot;&lt;b&gt;", "YARN"),
        ("https://a.example/", "&lt;Spark&gt;"),
    ]
    assert "javascript" not in up.text
    assert 'pages    YARN http://127.0.0.1:8088/"<b>  <Spark> https://a.example/' in panel_text(
        up.panel.model.view, NOW
    )


def test_each_worker_says_what_runs_on_it_and_so_does_the_question_of_its_removal(
    service: ServiceDouble, up: Screen
) -> None:
    up.press("+")
    up.press("Apply…")
    up.press("Add 1 worker")
    first, second, third = workers(up)
    assert "idle" not in up.text  # not known is not idle
    service.clusters.busy = [{"private_dns": first, "containers": 2}, {"private_dns": second, "containers": 0}]
    up.look()
    *_, one, two, three, _ = panel_text(up.panel.model.view, NOW).splitlines()
    assert [" ".join(line.split()) for line in (one, two, three)] == [
        f"{first} ● running 2 containers up 2 h 14 min",
        f"{second} ● running idle up 2 h 14 min",
        f"{third} ● running up 2 h 14 min",
    ]
    assert (up.text.count(">2 containers<"), up.text.count(">idle<")) == (1, 1)
    up.buttons("Remove…")[0].click()
    assert f"Remove {first}? It takes no new work, finishes its 2 containers, then leaves." in up.text


def test_presto_and_what_notebooks_talk_to_are_shown_with_their_heaps(service: ServiceDouble, up: Screen) -> None:
    full = {"status": "UP", "heap": {"usage_percent": "84.4", "status": "yellow"}}
    service.clusters.engine = {"presto": full}
    service.clusters.daemons["zeppelin"] = {"status": "DOWN", "heap": {"usage_percent": "0.0", "status": "red"}}
    up.look()
    assert "Presto <b>up, heap 84 %, yellow</b>" in up.text
    assert "✗</span> Spark notebooks <b>down</b>" in up.text


def test_a_daemon_that_is_down_is_reported_with_its_reason(service: ServiceDouble, up: Screen) -> None:
    silent = {"responsiveness_status": "DOWN", "liveliness_status": "UP", "reason": "it does not answer <1>"}
    heap = {"heap": {"usage_percent": "0.0", "status": "red"}}
    service.clusters.daemons = {"hive_metastore": silent | heap, "namenode": "UP", "resourcemanager": "DOWN"}
    up.look()
    assert "✗</span> ResourceManager <b>down</b>" in up.text
    assert "(it does not answer &lt;1&gt;)" in up.text
    assert "--jp-error-color1" in up.text


def test_a_state_that_the_service_does_not_show_is_unknown_and_never_green(service: ServiceDouble, up: Screen) -> None:
    service.clusters.busy = [{"private_dns": workers(up)[0], "containers": 2}]
    up.look()
    assert "2 containers" in up.text
    service.refusal = (403, "you may not: cluster, read")
    up.panel.model.clock = lambda: NOW + timedelta(minutes=1)
    up.look()
    assert "unknown since" in up.text
    assert "NameNode <b>unknown since" in up.text
    assert "--jp-success-color1" not in up.text
    assert "containers" not in up.text
    assert "<svg" not in up.text
    assert "you may not: cluster, read" in up.text
    assert up.button("Terminate…").disabled
    service.refusal = None
    up.press("Try again")
    assert up.buttons("Try again") == []
    assert "--jp-success-color1" in up.text


def test_a_service_that_hangs_makes_it_unknown_and_holds_nothing_up(
    service: ServiceDouble, up: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_jupyter.widgets.clusters.model.LATE_SECONDS", 0.05)
    service.held = threading.Event()
    up.button("Refresh").click()  # returns at once
    wait_until(lambda: "NameNode <b>unknown since" in up.text)
    service.held.set()
    up.settle()
    assert "NameNode <b>up</b>" in up.text


def test_workers_are_added_after_a_yes_and_the_command_is_followed(service: ServiceDouble, up: Screen) -> None:
    service.behave("add 1", held=True)
    up.press("+")
    up.press("Apply…")
    assert "Add 1 worker to default, so that it has 3?" in up.text
    assert service.clusters.asked == []
    up.press("Add 1 worker")
    assert service.clusters.asked == [("POST", "nodes", {"node_count": 1})]
    service.change(128, message="ip-127-0-0-13: registered, waiting for RUNNING")
    up.look()
    assert "◐ command 128 · adding 1 node · ip-127-0-0-13: registered, waiting for RUNNING" in up.text
    assert up.panel.model.period() == 1
    assert "refreshes every second" in up.text
    service.end(128)
    up.look()
    assert "✓ command 128 · adding 1 node: done in" in up.text
    assert len(workers(up)) == 3
    assert up.field("wanted").value == 3
    assert up.panel.model.period() == 5


def test_a_command_that_it_began_can_be_cancelled(service: ServiceDouble, up: Screen) -> None:
    service.behave("add 1", held=True)
    up.choose("wanted", 3)
    up.press("Apply…")
    up.press("Add 1 worker")
    up.press("Cancel")
    assert "■ command 128 · adding 1 node: cancelled" in up.text
    assert up.buttons("Cancel") == []


def test_the_time_of_a_command_is_what_passed_so_far_then_what_its_service_says(
    service: ServiceDouble, up: Screen
) -> None:
    clock = [0.0]
    up.panel.model.commands._clock = lambda: clock[0]
    service.behave("add 1", held=True)
    up.press("+")
    up.press("Apply…")
    up.press("Add 1 worker")
    clock[0] = 70.6
    up.look()
    assert "◐ command 128 · adding 1 node · running · 1 min 10 s" in up.text
    service.change(128, started_at="2025-11-21T09:00:01.500Z", ended_at="2025-11-21T09:00:04.740Z")
    service.end(128)
    up.look()
    assert "✓ command 128 · adding 1 node: done in 3.2 s" in up.text


def test_a_command_that_fails_is_reported_with_the_way_to_its_log(service: ServiceDouble, up: Screen) -> None:
    service.behave("add 1", status="error", message="the provider can make 16 nodes")
    up.panel.model.commands._clock = lambda: 0.0
    up.press("+")
    up.press("Apply…")
    up.press("Add 1 worker")
    assert "failed after 3 s · the provider can make 16 nodes · %svc_command 128 logs" in up.text


def test_more_than_the_maximum_is_warned_of(service: ServiceDouble, up: Screen) -> None:
    up.choose("wanted", 5)
    up.press("Apply…")
    assert "5 is above this cluster&#x27;s maximum of 4. The service does not check it." in up.text
    up.press("No, leave it")
    assert service.clusters.asked == []
    assert up.field("wanted").value == 2


def test_below_the_minimum_there_is_no_way_and_it_says_why(up: Screen) -> None:
    assert [button.disabled for button in up.buttons("Remove…")] == [True, True]
    up.press("-")
    assert "1 is below its minimum of 2" in up.text
    assert up.button("Apply…").disabled


def test_a_worker_is_removed_by_name(service: ServiceDouble, up: Screen) -> None:
    up.press("+")
    up.press("Apply…")
    up.press("Add 1 worker")
    up.buttons("Remove…")[0].click()
    assert "Remove ip-127-0-0-11? It takes no new work, finishes what runs on it" in up.text
    up.press("Remove ip-127-0-0-11")
    assert service.clusters.asked[-1] == ("DELETE", "nodes", {"private_dns": "ip-127-0-0-11"})
    assert "ip-127-0-0-11" not in workers(up)


def test_a_cluster_is_terminated_and_started_again(service: ServiceDouble, up: Screen) -> None:
    up.press("Terminate…")
    assert "HDFS and logs are gone for good" in up.text
    up.press("Terminate default")
    assert "○ down" in up.text
    assert "terminated by ann@example.com. A start makes a coordinator and 2 workers" in up.text
    assert up.buttons("Apply…") == []
    service.clusters.starts_at_once = False
    up.press("Start")
    assert "◐ starting" in up.text
    assert up.panel.model.period() == 1
    assert [body for _, _, body in service.clusters.asked] == [{"state": "terminate"}, {"state": "start"}]


def test_nodes_of_a_spark_cluster_cannot_be_changed_and_it_says_so(service: ServiceDouble, panels: Any) -> None:
    service.clusters.add("spark", state="UP", hadoop_settings={"use_spark": True})
    panel = panels("spark")
    assert "Node changes are not supported for Spark clusters" in panel.text
    assert panel.button("+").disabled
    assert panel.field("wanted").disabled
    assert [button.disabled for button in panel.buttons("Remove…")] == [True, True]


def test_a_cluster_that_others_run_says_where_and_has_no_size_to_change(service: ServiceDouble, panels: Any) -> None:
    external = {"trino_url": "https://trino.example.com:8443", "presto_url": None}
    service.clusters.add(state="UP", provider="external", external=external)
    up = panels()
    assert "<b>default</b></span> · external · Trino at trino.example.com · " in up.text
    assert "Workers" not in up.text
    up.press("Terminate…")
    assert "Let go of default? What runs on it for this service or waits for it ends in error" in up.text


@pytest.mark.parametrize(
    ("name", "address", "words"),
    [
        ("hiveserver2", "hive.example.com:10000", "HiveServer2 at hive.example.com"),
        ("hiveserver2", "jdbc:hive2://hive.example.com:10000/;auth=noSasl", "HiveServer2 at hive.example.com"),
        ("spark_connect", "sc://spark.example.com:15002", "Spark Connect at spark.example.com"),
    ],
)
def test_an_external_cluster_is_shown_with_its_server(
    service: ServiceDouble, panels: Any, name: str, address: str, words: str
) -> None:
    service.clusters.add(state="UP", provider="external", external={name: address})
    assert f"<b>default</b></span> · external · {words} · " in panels().text


def test_one_of_several_clusters_is_chosen(service: ServiceDouble, panels: Any) -> None:
    service.clusters.add()
    service.clusters.add("etl", state="UP")
    panel = panels(None)
    assert [text for text, _ in panel.field("Cluster").options] == ["○ default · Hadoop · down", "● etl · Hadoop · up"]
    panel.choose("Cluster", 2)
    assert "<b>etl</b>" in panel.text
    assert panel.field("wanted").value == 2


def test_it_looks_by_itself_only_while_it_is_seen(
    service: ServiceDouble, up: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_jupyter.widgets.clusters.model.CALM_SECONDS", 0.01)
    service.clusters.move(1, "DOWN")
    up.view(visible=True)
    wait_until(lambda: "down" in up.text)
    up.view(visible=False)
    up.settle()
    requests = len(service.requests)
    up.settle()
    assert len(service.requests) == requests


def test_left_open_it_says_that_it_looks_no_more(up: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc_jupyter.widgets.panels.worker.UNTOUCHED_SECONDS", 0)
    up.view(visible=True)
    wait_until(lambda: "the panel is paused" in up.text)
    assert "unknown since" in up.text


def test_a_closed_panel_ends_its_thread(up: Screen) -> None:
    thread = finish(up.panel.model.worker)
    up.panel.close()
    thread.join(20)
    assert not thread.is_alive()


def test_a_bare_service_shows_what_it_knows(panels: Any, service: ServiceDouble) -> None:
    service.clusters.bare = True
    service.clusters.add(state="UP")
    panel = panels()
    assert "● up" in panel.text
    assert "CPU 23 % · disk 12 %" in panel.text
    assert repr(panel.panel).startswith("default · Hadoop · ● up\n  health   ● NameNode up")
