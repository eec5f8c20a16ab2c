"""The section "Clusters" and a cluster's own view: health, and workers that are added and removed for real."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import DARK, HIGH_CONTRAST, LabPage
from tests.support.service_process import ServiceProcess

NODE_SECONDS = 120_000
"""How long a node may take to come or go, in milliseconds, on a busy machine."""


@pytest.mark.gate
def test_a_worker_is_added_and_removed_and_watched_as_it_comes_and_goes(page: LabPage, up_cluster: str) -> None:
    page.open()
    row = _row(page, up_cluster)
    expect(row).to_contain_text("1 of 1–3 workers")
    row.click()
    view = page.page.get_by_role("article")
    expect(view).to_contain_text("Workers 1 of 1–3")
    for daemon in ("NameNode up", "ResourceManager up", "Hive metastore not started"):
        expect(view.get_by_role("list", name="Health")).to_contain_text(daemon)
    with page.page.context.expect_page() as opened:
        view.get_by_role("link", name="YARN").click()
    expect(opened.value.get_by_role("heading", name="All Applications")).to_be_visible()
    opened.value.close()
    view.get_by_role("button", name="one worker more").click()
    view.get_by_role("button", name="Add 1 worker…").click()
    expect(page.dialog).to_contain_text(f"Add 1 worker to {up_cluster}, so that it has 2?")
    expect(page.dialog.get_by_role("button", name="No, leave it")).to_be_focused()
    page.answer_dialog("Add 1 worker")
    _follow(view, r"command \d+ · adding 1 node: done in")
    expect(view.get_by_role("rowheader")).to_have_count(2)
    added = view.get_by_role("row").last
    expect(added).to_contain_text("running")
    expect(added).to_contain_text("idle")
    expect(row).to_contain_text("2 of 1–3 workers")
    name = added.get_by_role("rowheader").inner_text()
    added.get_by_role("button", name=f"Remove {name}…").click()
    expect(page.dialog).to_contain_text(f"Remove {name}? It takes no new work, finishes what runs on it, then leaves.")
    page.answer_dialog(f"Remove {name}")
    _follow(view, rf"command \d+ · removing {name}: done in")
    expect(view.get_by_role("rowheader")).to_have_count(1)
    expect(view.get_by_role("button", name="Remove")).to_be_disabled()


def test_a_worker_says_how_many_containers_run_on_it(
    page: LabPage, service: ServiceProcess, up_cluster: str, signal: Path
) -> None:
    view = _opened(page, up_cluster)
    worker = view.get_by_role("table", name="Workers").get_by_role("row")
    expect(worker).to_contain_text("idle")
    expect(view.locator("header").get_by_role("button", name="Terminate…")).to_be_enabled()
    source = service.data_dir / "storage" / page.name
    source.mkdir(parents=True)
    (source / "line").write_text("a\n")
    mapper = signal.with_name("mapper.sh")
    mapper.write_text(f'until [ -e "{signal}" ]; do sleep 0.1; done\ncat\n')
    one_map = "-D mapreduce.job.maps=1 -D mapreduce.job.reduces=0"
    body = {
        "command_type": "HadoopCommand",
        "sub_command": "streaming",
        "sub_command_args": f"{one_map} -input {source.as_uri()} -output /{page.name} -mapper 'sh {mapper}'",
        "label": up_cluster,
    }
    command = service.http.post("/commands", json=body).raise_for_status().json()["id"]
    expect(worker).to_contain_text("2 containers", timeout=NODE_SECONDS)  # the job's master and its map
    page.page.set_viewport_size({"width": 700, "height": 800})
    expect(worker.get_by_role("button", name="Remove")).to_be_in_viewport(ratio=1)
    signal.touch()
    expect(worker).to_contain_text("idle", timeout=NODE_SECONDS)
    assert service.ended(command)["status"] == "done"


def test_a_size_above_the_maximum_is_asked_about_and_one_below_the_minimum_refused(
    page: LabPage, up_cluster: str
) -> None:
    view = _opened(page, up_cluster)
    size = view.get_by_role("spinbutton", name="Number of workers")
    size.fill("4")
    view.get_by_role("button", name="Add 3 workers…").click()
    expect(page.dialog).to_contain_text(
        "4 is above this cluster's maximum of 3. The service does not check it. Add anyway?"
    )
    page.answer_dialog("No, leave it")
    expect(size).to_have_value("1")
    size.fill("0")
    expect(view.get_by_role("status")).to_contain_text("a cluster has at least 1 worker")
    expect(view.get_by_role("button", name="Remove 1 worker…")).to_be_disabled()


@pytest.mark.parametrize("theme", [DARK, HIGH_CONTRAST])
def test_a_clusters_view_is_accessible(page: LabPage, up_cluster: str, theme: str) -> None:
    view = _opened(page, up_cluster, theme=theme)
    expect(view).to_contain_text(re.compile(r"as of \d\d:\d\d:\d\d"))
    assert page.accessibility_findings(".jp-SvcCluster", "#svc-jupyter-section-clusters") == []


def test_a_clusters_view_comes_back_after_a_reload(own_page: LabPage, up_cluster: str) -> None:
    view = _opened(own_page, up_cluster)
    own_page.reload()
    expect(view).to_contain_text("Workers 1 of 1–3")


def test_a_view_that_nobody_sees_asks_nothing_and_one_without_answers_shows_nothing_as_well(
    page: LabPage, up_cluster: str
) -> None:
    view = _opened(page, up_cluster)
    good = page.page.locator(".jp-SvcCluster .jp-mod-good")
    expect(good.first).to_be_visible()
    page.traffic.expect_errors(r"svc-jupyter/api")
    page.page.route("**/svc-jupyter/api/clusters/**", lambda route: route.abort())
    expect(view).to_contain_text("unknown since", timeout=30_000)
    expect(good).to_have_count(0)
    expect(view.get_by_role("button", name="Terminate…")).to_be_disabled()
    page.page.unroute("**/svc-jupyter/api/clusters/**")
    view.get_by_role("button", name="Try again").click()
    expect(good.first).to_be_visible()
    page.run("launcher:create")
    expect(view).to_be_hidden()
    page.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    before = len(page.traffic.to_the_extension("clusters"))
    for _ in range(2):  # Lab asks for its own sessions every 10 s: a view that looked would have been heard of
        page.page.wait_for_event("request", lambda request: "/api/sessions" in request.url, timeout=60_000)
    assert len(page.traffic.to_the_extension("clusters")) <= before + 1, "what was under way may end"


def test_a_spark_cluster_and_one_that_is_down_say_what_they_can(page: LabPage, service: ServiceProcess) -> None:
    settings = {
        "label": [page.name],
        "hadoop_settings": {"use_spark": True},
        "node_configuration": {"initial_nodes": 2},
    }
    cluster = service.http.post(service.base_url + "/api/v1.3/clusters", json=settings).raise_for_status().json()
    page.open()
    _row(page, page.name).press("Enter")
    view = page.page.get_by_role("article")
    expect(view.get_by_role("heading")).to_have_text(page.name)
    expect(view.get_by_text("Spark", exact=True)).to_be_visible()
    expect(view).to_contain_text("Never started. A start makes a coordinator and 2 workers; about 12 s.")
    expect(view.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    expect(view.locator("header").get_by_role("button")).to_have_count(0)  # where *Terminate…* comes once it starts
    service.http.delete(f"{service.base_url}/api/v1.3/clusters/{cluster['id']}").raise_for_status()
    page.traffic.expect_errors(r"404")
    expect(view).to_contain_text("unknown since", timeout=30_000)
    expect(view).to_contain_text(f"there is no cluster {cluster['id']}")


def _row(page: LabPage, cluster: str) -> Locator:
    return page.panel.get_by_role("grid", name="Clusters").get_by_role("row").filter(has_text=cluster)


def _opened(page: LabPage, cluster: str, **options: str) -> Locator:
    page.open(**options)
    _row(page, cluster).dblclick()
    view = page.page.get_by_role("article")
    expect(view).to_contain_text("Workers 1 of 1–3")
    return view


def _follow(view: Locator, ending: str) -> None:
    commands = view.get_by_role("list", name="Commands of this panel")
    expect(commands).to_contain_text(re.compile(ending), timeout=NODE_SECONDS)
