"""A note in JupyterLab: its cluster, its forms, its jobs and its version, and what may go wrong while its cells run.

All tests share one Spark cluster, which the first cell starts.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Locator, expect
from tests.browser.conftest import KeptPage, switch_on
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.browser.notebook_page import NotebookPage
from tests.browser.views import MAIN_AREA
from tests.support.engines import engine_at_once
from tests.support.hadoop import end_clusters_of
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.spark import LOCAL, SECONDS

from svc_jupyter.service.installs.engine import Engine

START = 300_000.0
"""Milliseconds in which a cluster and a session have started, also on a machine that runs other tests meanwhile."""
_numbers = itertools.count(1)
_PRODUCT = "%sql\nselect concat('is-', ${factor=7}) as product"
_LEVEL = "%pyspark\nprint('level', z.select('level', 'low', ['low', 'high']))"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service with the clusters `spark` and `other`, which are down."""
    with ThreadPoolExecutor(1) as thread:  # this thread has the browser's loop
        thread.submit(engine_at_once, Engine.SPARK).result()
    service = ServiceProcess(tmp_path_factory.mktemp("spark") / "data", kill_grace_seconds=1).start()
    try:
        switch_on(service)
        settings = {"hadoop_settings": {"use_spark": True, "custom_config": LOCAL}}
        service.http.put("/clusters/spark", json=settings).raise_for_status()
        service.http.post("/clusters", json={"label": ["other"], **settings}).raise_for_status()
        yield service
    finally:
        service.stop()
        end_clusters_of(service.data_dir)


@pytest.fixture(scope="module")
def lab(service: ServiceProcess, kept_page: KeptPage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabProcess]:
    """A JupyterLab for that service."""
    lab = LabProcess(tmp_path_factory.mktemp("lab"), service)
    try:
        yield lab.start()
    finally:
        kept_page.close()
        lab.stop()


class Note:
    """A note of the service that is open as a notebook."""

    def __init__(self, page: LabPage, service: ServiceProcess, *texts: str, cluster: str = "spark") -> None:
        self.page = page
        self.service = service
        self.name = f"late {next(_numbers)}"
        bound = service.http.get(f"/clusters/{cluster}").json()["id"]
        paragraphs = [{"id": f"p{number}", "text": text} for number, text in enumerate(texts)]
        body = {"name": self.name, "location": "Common", "cluster_id": bound, "paragraphs": paragraphs}
        self.id = service.http.post("/notebooks", json=body).json()["id"]
        copy = page.lab.http.post(f"/notes/{self.id}/copy", json={"name": self.name, "to": page.name}).json()
        self.file = copy["name"]
        page.open(self.file, panel=False)

    @property
    def record(self) -> dict[str, Any]:
        return dict(self.service.http.get(f"/notebooks/{self.id}").json())

    def outputs(self, number: int) -> Locator:
        return self.page.notebook.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea")

    def run(self, number: int) -> Locator:
        """Run a cell and return its outputs, once it is done."""
        return self.page.run_cell(number)


def toolbar(page: LabPage) -> Locator:
    return page.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar")


def cluster_of(page: LabPage) -> Locator:
    """Return the cluster in the toolbar; the chosen option is what it shows."""
    return toolbar(page).get_by_label("Cluster")


def saved(page: LabPage) -> Locator:
    return toolbar(page).get_by_role("status")


def newest(service: ServiceProcess) -> int:
    """Return the id of the newest command."""
    return max(row["id"] for row in service.http.get("/commands").json()["commands"])


@pytest.mark.timeout(900)  # the cluster, its metastore and a session start
def test_the_cluster_of_a_note_starts_with_its_first_cell_and_the_forms_give_the_values(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(page, service, _PRODUCT, _LEVEL, "%md\n# To ${city=Paris}", "%sh\necho ${day=1,1|2} of ${city=Paris}")
    expect(cluster_of(page).locator("option:checked")).to_have_text("○ spark · down")
    expect(saved(page)).to_have_text(re.compile(r"✓ v1 · saved \d\d:\d\d"))
    fields = page.page.get_by_role("form", name="Forms of this notebook")
    expect(fields.get_by_label("factor")).to_have_value("7")
    expect(fields.get_by_label("level")).to_have_value("low")
    output = page.run_cell(0, wait=False)
    expect(output).to_contain_text("starting cluster spark", timeout=START)
    expect(output).to_contain_text("is-7", timeout=START)
    expect(cluster_of(page).locator("option:checked")).to_have_text("● spark · up")
    fields.get_by_label("factor").fill("10")
    fields.get_by_label("level").select_option("high")
    expect(note.run(0)).to_contain_text("is-10")
    expect(note.run(1)).to_contain_text("level high")
    fields.get_by_label("city").fill("*Rome*")
    fields.get_by_label("day").select_option("2")
    expect(note.run(2).get_by_role("heading")).to_have_text("To *Rome*¶")
    expect(note.run(3)).to_contain_text("2 of *Rome*")
    # A cell that sets a form is what its field shows, and a text that changes changes the fields.
    editor = page.notebook.locator(".jp-CodeCell").nth(1).locator(".cm-content")
    editor.click()
    page.page.keyboard.press("Control+A")
    page.page.keyboard.insert_text("%%forms factor=100")
    note.run(1)
    expect(fields.get_by_label("factor")).to_have_value("100")
    expect(fields.get_by_label("level")).to_have_count(0)
    expect(note.run(0)).to_contain_text("is-100")
    page.run("docmanager:save")
    expect(saved(page)).to_have_text(re.compile(r"✓ v2 · saved"))
    assert "factor=7" in note.record["paragraphs"][0]["text"]
    assert not note.record["paragraphs"][0].get("settings", {}).get("params")


def test_a_note_runs_as_a_job_with_the_values_of_its_fields_and_outlives_the_page(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(page, service, _PRODUCT)
    page.page.get_by_label("factor").fill("11")
    page.notebook.locator(".jp-CodeCell .cm-content").first.click()
    page.page.keyboard.press("Control+End")
    page.page.keyboard.type(", 'edited' as how")
    expect(saved(page)).to_have_text("v1 · changed")
    toolbar(page).get_by_role("button", name="Run as a job").click()
    page.page.locator(MAIN_AREA).get_by_text("Spark").first.wait_for()
    job = service.http.get(f"/commands/{newest(service)}").json()
    assert (job["command"]["note_id"], json.loads(job["command"]["arguments"])) == (note.id, {"factor": "11"})
    page.page.goto("about:blank")
    ended = service.ended(job["id"], SECONDS)
    assert ended["status"] == "done", service.http.get(f"/commands/{job['id']}/logs").text
    assert service.http.get(f"/commands/{job['id']}/results").json()["results"].split() == [
        "product",
        "how",
        "is-11",
        "edited",
    ]


def test_the_clock_of_a_note_schedules_the_note_with_values_for_its_forms(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(page, service, _PRODUCT)
    page.notebook.locator(".jp-CodeCell .cm-content").first.click()
    page.page.keyboard.press("Control+End")
    page.page.keyboard.type(", 'edited' as how")
    toolbar(page).get_by_role("button", name="Schedule this notebook").click()
    form = page.page.get_by_role("form", name=f"Schedule {note.file}")
    expect(form).to_contain_text("saved just now")
    expect(form.get_by_label("Cluster").locator("option:checked")).to_have_text(re.compile(r"^spark · "))
    expect(form.get_by_label("factor")).to_have_value("7")
    form.get_by_label("factor").fill("5")
    assert page.accessibility_findings(".jp-SvcForm") == []
    form.get_by_role("button", name="Run once now").click()
    page.page.locator(".Toastify__toast").filter(has_text="Command").first.wait_for()
    run = service.ended(newest(service), SECONDS)
    assert (run["status"], run["command"]["note_id"]) == ("done", note.id)
    assert service.http.get(f"/commands/{run['id']}/results").json()["results"].split()[-2:] == ["is-5", "edited"]
    form.get_by_role("button", name="Schedule", exact=True).click()
    expect(form).to_be_hidden()
    clock = toolbar(page).get_by_role("button", name="Scheduled: next run")
    clock.click()
    edit = page.page.get_by_role("form", name=f"Schedule {note.name}")
    expect(edit.get_by_label("factor")).to_have_value("5")
    edit.get_by_label("factor").fill("6")
    expect(edit).to_contain_text("Changed: Parameters.")
    edit.get_by_role("button", name="Save the changes").click()
    expect(edit).to_be_hidden()
    [schedule] = [
        one
        for one in service.http.get("/scheduler").json()["schedules"]
        if one["command"].get("note_id") == note.id and one["status"] == "RUNNING"
    ]
    assert (schedule["command_type"], schedule["has_label"]) == ("SparkCommand", False)
    assert json.loads(schedule["command"]["arguments"]) == {"factor": "6"}
    by_hand = service.ended(page.lab.http.post(f"/schedules/{schedule['id']}/run").json()["id"], SECONDS)
    assert by_hand["status"] == "done", by_hand["message"]
    assert "is-6" in service.http.get(f"/commands/{by_hand['id']}/results").json()["results"]
    service.http.put(f"/scheduler/{schedule['id']}", json={"status": "kill"}).raise_for_status()


def test_a_note_that_could_not_be_saved_does_not_run_as_somebody_else_has_saved_it(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(page, service, _PRODUCT)
    expect(saved(page)).to_have_text(re.compile("✓ v1"))
    other = {"paragraphs": [{"id": "p0", "text": "%sql\nselect 'of somebody else'"}]}
    service.http.put(f"/notebooks/{note.id}", json=other).raise_for_status()
    before = newest(service)
    page.notebook.locator(".jp-CodeCell .cm-content").first.click()
    page.page.keyboard.type("-- mine")
    toolbar(page).get_by_role("button", name="Schedule this notebook").click()
    form = page.page.get_by_role("form", name=f"Schedule {note.file}")
    expect(form).to_contain_text("is saved here, but not as the note that runs.")
    form.get_by_role("button", name="Run once now").click()
    expect(form.get_by_role("alert")).to_contain_text("is saved here, but not as the note that runs.")
    # Nothing is left to save in the page now: the server knows of the other version.
    answer = page.lab.http.post("/runs", json={"notebook": f"{page.name}/{note.file}"})
    assert answer.status_code == 409
    assert newest(service) == before
    page.traffic.expect_errors("409")


def test_two_people_with_one_note_see_each_others_saves_before_they_overwrite_them(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(page, service, _PRODUCT)
    expect(saved(page)).to_have_text(re.compile("✓ v1"))
    other = {"paragraphs": [{"id": "p0", "text": "%sql\nselect 'of somebody else'"}]}
    service.http.put(f"/notebooks/{note.id}", json=other).raise_for_status()
    expect(saved(page)).to_have_text("! v2 is newer")
    page.run("docmanager:save")
    told = page.page.locator(".Toastify__toast").filter(has_text="is saved here, and not in the service")
    told.wait_for()
    assert "of somebody else" in note.record["paragraphs"][0]["text"]
    # A job would run something else than the page shows: it is not submitted.
    before = newest(service)
    toolbar(page).get_by_role("button", name="Run as a job").click()
    expect(toolbar(page).get_by_role("button", name="Run as a job")).to_be_enabled()
    assert newest(service) == before
    told.last.get_by_role("button", name="Save over it").click()
    expect(saved(page)).to_have_text(re.compile("✓ v3"))
    page.traffic.expect_errors("409")


def test_two_tabs_on_one_note_each_run_with_their_own_values(
    page: LabPage, new_page: Callable[..., LabPage], lab: LabProcess, service: ServiceProcess
) -> None:
    note = Note(page, service, _PRODUCT)
    second = new_page(lab)
    second.name, second.folder = page.name, page.folder
    second.open(note.file, panel=False)
    page.page.get_by_label("factor").fill("2")
    second.page.get_by_label("factor").fill("3")
    expect(note.run(0)).to_contain_text("is-2")
    expect(second.run_cell(0)).to_contain_text("is-3")
    expect(note.run(0)).to_contain_text("is-2")


def test_a_cell_without_an_end_is_interrupted_and_a_session_that_died_is_reported(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(
        page,
        service,
        "%pyspark\nimport time\nkept = 7\nprint('begun')\nwhile True:\n    time.sleep(0.05)",
        "%pyspark\nprint('kept' in globals())",
        "%pyspark\nimport os\nos._exit(3)",
    )
    running = page.run_cell(0, wait=False)
    expect(running).to_contain_text("begun", timeout=START)
    page.run("notebook:interrupt-kernel")
    expect(running).to_contain_text("cancelled by interrupt")
    expect(note.run(1)).to_contain_text("True")
    expect(note.run(2)).to_contain_text("the session ended while the program ran")
    again = note.run(1)
    expect(again).to_contain_text("the variables of earlier cells are gone")
    expect(again).to_contain_text("False")


def test_a_kernel_that_is_restarted_while_a_cell_runs_has_a_new_session_and_the_values_of_the_fields(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(
        page,
        service,
        "%pyspark\nimport time\nprint('begun')\nwhile True:\n    time.sleep(0.05)",
        "%pyspark\nprint('time' in globals(), ${factor=7})",
    )
    page.page.get_by_label("factor").fill("9")
    expect(page.run_cell(0, wait=False)).to_contain_text("begun", timeout=START)
    running = service.http.get("/commands").json()["commands"][0]
    page.page.evaluate("void window.jupyterapp.commands.execute('notebook:restart-kernel')")
    page.dialog.locator(".jp-mod-accept").click()
    assert service.ended(running["id"], SECONDS)["status"] != "done"
    expect(note.run(1)).to_contain_text("False 9")


def test_another_cluster_is_chosen_in_the_toolbar_and_the_note_is_bound_to_it(
    page: LabPage, service: ServiceProcess
) -> None:
    note = Note(page, service, _PRODUCT)
    expect(cluster_of(page)).to_have_value("spark")
    cluster_of(page).select_option("other")
    expect(page.dialog).to_contain_text("in a new session: the variables of the session on spark are gone")
    expect(page.dialog).to_contain_text("other is down; the next cell starts it.")
    page.answer_dialog("No, leave it")
    expect(cluster_of(page)).to_have_value("spark")
    cluster_of(page).select_option("other")
    page.answer_dialog("Run on other")
    other = service.http.get("/clusters/other").json()["id"]
    wait_until(lambda: note.record["cluster_id"] == other, "the note is bound", SECONDS)
    expect(cluster_of(page)).to_have_value("other")
    # The binding is an edit of one's own: the next save finds no conflict.
    expect(saved(page)).to_have_text(re.compile("✓ v2"))
    page.run("docmanager:save")
    expect(page.page.locator(".Toastify__toast").filter(has_text="is saved in the service")).to_be_visible()


def test_a_note_runs_in_notebook_7(
    new_page: Callable[..., NotebookPage], new_lab: Callable[..., LabProcess], service: ServiceProcess
) -> None:
    page = new_page(new_lab(service, has_notebook=True), kind=NotebookPage)
    note = Note(page, service, _PRODUCT)
    page.page.get_by_role("form", name="Forms of this notebook").get_by_label("factor").fill("21")
    output = page.run_cell(0, wait=False)
    expect(output.get_by_role("grid")).to_contain_text("is-21", timeout=START)
    expect(cluster_of(page).locator("option:checked")).to_have_text("● spark · up")
    page.run("docmanager:save")
    expect(saved(page)).to_have_text(re.compile(r"✓ v2 · saved"))
    assert note.record["paragraphs"][0]["text"] == _PRODUCT


def test_a_notebook_that_is_no_note_has_a_cluster_and_forms_and_says_why_it_is_no_job(
    page: LabPage, service: ServiceProcess
) -> None:
    file = page.write_notebook("plain.ipynb", "%pyspark\nprint('twice', 2 * ${factor=7})")
    notebook = nbformat.read(file, 4)
    notebook.metadata["kernelspec"] = {"name": "svc-spark", "display_name": "Spark (svc)", "language": "python"}
    nbformat.write(notebook, file)
    page.open("plain.ipynb", panel=False)
    job = toolbar(page).get_by_role("button", name="Run as a job")
    expect(job).to_be_disabled()
    expect(toolbar(page).locator("[title*='%svc_notes import FILE']").first).to_be_attached()
    expect(cluster_of(page).locator("option:checked")).to_have_text("Choose a cluster")
    cluster_of(page).select_option("spark")
    page.answer_dialog("Run on spark")
    page.page.get_by_label("factor").fill("21")
    expect(page.run_cell(0)).to_contain_text("twice 42")
    expect(cluster_of(page)).to_have_value("spark")
