"""`%svc_cluster` and `%svc_clusters`: by words, against a service with our extensions and without."""

import re
import threading

import pytest
from tests.support.double.service import TOKEN

from svc_jupyter.client import Client
from svc_jupyter.magics.clusters.clusters import ClusterLine, line_of
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.policies.objects import object_called
from svc_jupyter.widgets.clusters.panel import ClusterPanel


@pytest.fixture
def up(service):
    """A cluster that is UP, with two workers where the service tells them."""
    return service.clusters.add(state="UP")


def test_the_clusters_become_a_frame(service, notebook):
    service.clusters.add()
    service.clusters.add("spark", hadoop_settings={"use_spark": True})
    frame = notebook.value("%svc_clusters")
    assert list(frame["label"]) == ["spark", "default"]
    assert list(frame["state"]) == ["down", "down"]
    assert list(frame["type"]) == ["Spark", "Hadoop"]
    assert list(frame["max_nodes"]) == [4, 4]


def test_clusters_are_chosen_by_the_words_of_their_states(service, notebook):
    service.clusters.add()
    service.clusters.add("busy", state="UP")
    assert list(notebook.value("%svc_clusters --state up")["label"]) == ["busy"]
    assert list(notebook.value("%svc_clusters --state DOWN")["label"]) == ["default"]


@pytest.mark.both_services
def test_a_start_waits_until_the_cluster_is_up(service, notebook):
    service.clusters.add()
    assert notebook.value("%svc_cluster default start") is None
    assert service.clusters.asked == [("PUT", "state", {"state": "start"})]
    assert notebook.lines[-1].startswith("✓ cluster default · up in ")
    assert service.bare or notebook.lines[-1].endswith(" · 2 workers")


def test_while_it_starts_the_line_says_what_is_being_done(service, notebook_of, wait_until):
    service.clusters.add()
    service.clusters.starts_at_once = False
    notebook = notebook_of(service)

    def come_up():
        service.clusters.move(1, "PENDING", message="1 of 2 workers registered")
        wait_until(lambda: any("1 of 2 workers registered" in line for line in notebook.lines))
        service.clusters.move(1, "UP", message=None)

    threading.Thread(target=come_up).start()
    notebook.value("%svc_cluster start")
    assert any(line.startswith("◐ starting cluster default · 1 of 2 workers registered · ") for line in notebook.lines)
    assert notebook.lines[-1].startswith("✓ cluster default · up in ")


def test_a_start_that_fails_says_why(service, notebook_of, wait_until):
    service.clusters.add("etl")
    service.clusters.starts_at_once = False
    notebook = notebook_of(service)

    def fail():
        wait_until(lambda: notebook.lines)
        service.clusters.move(1, "DOWN", terminate_reason="no Java was found")

    failing = threading.Thread(target=fail)
    failing.start()
    error = notebook.error("%svc_cluster etl start")
    failing.join()
    assert "cluster 1 is DOWN, and does not come UP: no Java was found" in str(error)
    assert re.fullmatch(r"✗ cluster etl · failed after .*s", notebook.lines[-1])


def test_a_cluster_that_is_up_already_is_no_error(service, up, notebook):
    notebook.value("%svc_cluster start")
    assert service.clusters.asked == []
    assert notebook.lines[-1].startswith("✓ cluster default · up")
    assert notebook.lines[-1].endswith("already")


def test_without_yes_nothing_is_terminated_and_the_line_says_what_would_be(service, up, notebook, capsys):
    notebook.value("%svc_cluster terminate")
    assert service.clusters.asked == []
    assert "Terminate default? What runs on it or waits for it ends in error" in capsys.readouterr().out
    notebook.value("%svc_cluster terminate --yes")
    assert service.clusters.asked == [("PUT", "state", {"state": "terminate"})]
    assert notebook.lines[-1].startswith("■ cluster default · down after ")


@pytest.mark.both_services
def test_state_health_and_nodes_are_reported(service, up, notebook):
    state = str(notebook.value("%svc_cluster state"))
    assert "up" in state
    health = str(notebook.value("%svc_cluster default health -o health"))
    assert "NameNode         ● up" in health
    assert "Hive metastore   ● up, heap 41 %" in health
    assert "CPU 23 % · disk 12 %" in health
    nodes = notebook.value("%svc_cluster nodes")
    assert list(nodes["role"]) == ([] if service.bare else ["master", "worker", "worker"])
    assert list(nodes["status"]) == ([] if service.bare else ["running"] * 3)


def test_a_cluster_that_is_down_has_no_health(service, notebook):
    service.clusters.add()
    assert "only a cluster that is UP has health" in str(notebook.error("%svc_cluster health"))


@pytest.mark.both_services
def test_nodes_are_added_and_the_command_is_followed_to_its_end(service, up, notebook):
    notebook.value("%svc_cluster default add 2")
    assert service.clusters.asked == [("POST", "nodes", {"node_count": 2})]
    assert notebook.lines[-1].startswith("✓ command 128 · ")
    assert service.bare or notebook.lines[-1].endswith(" · cluster default has 4 workers now")


def test_more_than_the_maximum_needs_a_yes(service, notebook, capsys):
    service.clusters.add(state="UP")
    notebook.value("%svc_cluster add 3")
    assert "5 is above this cluster's maximum of 4. The service does not check it." in capsys.readouterr().out
    assert service.clusters.asked == []
    notebook.value("%svc_cluster add 3 --yes")
    assert service.clusters.asked == [("POST", "nodes", {"node_count": 3})]


def test_a_node_is_removed_after_a_yes(service, notebook, capsys):
    service.clusters.add(state="UP")
    notebook.value("%svc_cluster add --quiet")
    notebook.value("%svc_cluster remove ip-127-0-0-12")
    assert "Remove ip-127-0-0-12? It takes no new work" in capsys.readouterr().out
    notebook.value("%svc_cluster remove ip-127-0-0-12 --yes")
    assert service.clusters.asked[1:] == [("DELETE", "nodes", {"private_dns": "ip-127-0-0-12"})]
    assert notebook.lines[-1].endswith(" · cluster default has 2 workers now")


def test_below_the_minimum_the_service_says_why_not(service, notebook):
    service.clusters.add(state="UP")
    error = notebook.error("%svc_cluster remove --yes")
    assert "its minimum (initial_nodes) is 2" in str(error)


def test_no_wait_returns_a_handle(service, up, notebook):
    service.behave("add 1", held=True)
    handle = notebook.value("%svc_cluster add --no-wait -o adding")
    assert notebook.shell.user_ns["adding"] is handle
    assert handle.cancel() == "cancelled"


def test_an_unknown_cluster_is_reported_with_the_nearest(service, notebook):
    service.clusters.add()
    error = str(notebook.error("%svc_cluster defalt start"))
    assert "there is no cluster defalt. Did you mean default? There are: default" in error
    assert "Did you mean start?" in str(notebook.error("%svc_cluster strt"))


@pytest.mark.both_services
def test_without_a_verb_it_is_a_panel_with_the_same_as_text_beside_it(service, up, notebook):
    panel = notebook.value("%svc_cluster default -o panel")
    assert isinstance(panel, ClusterPanel)
    assert "application/vnd.jupyter.widget-view+json" in notebook.result_data
    assert notebook.result_data["text/plain"].startswith("default · Hadoop · ● up")


def test_in_a_terminal_it_is_a_text(service, terminal):
    service.clusters.add()
    text = repr(terminal.value("%svc_cluster"))
    assert "Never started." in text
    assert "A start makes a coordinator and 2 workers; about 12 s. %svc_cluster default start" in text


LINES = {
    "": ClusterLine("default"),
    "etl": ClusterLine("etl"),
    "start": ClusterLine("default", "start"),
    "etl add": ClusterLine("etl", "add", count=1),
    "7 add 3": ClusterLine("7", "add", count=3),
    "remove ip-1": ClusterLine("default", "remove", node="ip-1"),
}


def test_a_line_says_which_cluster_and_what():
    assert {line: line_of(line.split(), "default") for line in LINES} == LINES


def refusal(line):
    with pytest.raises(SvcUsageError) as refused:
        line_of(line.split(), "default")
    return str(refused.value)


def test_a_line_that_says_something_else_is_reported():
    assert "'b' is not a verb." in refusal("a b")
    assert "'now' is one word too many after start" in refusal("start now")
    assert {word: refusal(f"add {word}") for word in ("0", "-1", "x")} == {
        "0": "svc_cluster add: takes a number of workers, 1 or more, not '0'",
        "-1": "svc_cluster add: takes a number of workers, 1 or more, not '-1'",
        "x": "svc_cluster add: takes a number of workers, 1 or more, not 'x'",
    }


def test_a_policy_names_a_cluster_by_its_label(service):
    service.clusters.add("etl")
    with Client(service.base_url, TOKEN) as client:
        assert str(object_called(client, "cluster", "etl", "notes")) == "cluster 1 · etl"
        assert str(object_called(client, "cluster", "7", "notes")) == "cluster 7"
