"""The panel's widgets, pressed as a front end presses them, with a service behind."""

import re
import threading

import pytest
from ipywidgets import Dropdown
from tests.support.displayed import mime_bundle_of
from tests.support.service_process import wait_until
from tests.widgets.screen import finish

pytestmark = pytest.mark.usefixtures("in_paris")


@pytest.fixture
def schedule(service):
    """A schedule with an action that is done, one that failed and one that runs."""
    schedule = service.schedules.add("report <b>", time_zone="Europe/Paris")
    service.schedules.act(schedule, "done", query_hist_id=128)
    service.schedules.act(schedule, "error", query_hist_id=129, message="exit code 3")
    service.schedules.act(schedule, "running", query_hist_id=130)
    return schedule


@pytest.fixture
def panel(schedule, open_panel):
    return open_panel("12")


STEPS = ("Suspend", "Resume", "Run again", "End")


@pytest.mark.both_services
def test_it_shows_the_next_runs_and_the_last_actions(service, panel):
    assert "report &lt;b&gt; (12)" in panel.text
    assert "● active" in panel.text
    times = "Sun 22 Nov 09:00" if service.bare else "Sun 22 Nov 09:00 · Mon 23 Nov 09:00"
    assert times in panel.text
    table = panel.text
    assert re.findall(r'<th scope="col"[^>]*>([^<]*)<', table) == ["Run", "For", "Status", ""]
    assert table.index("◐ running") < table.index("✗ failed") < table.index("✓ done")
    assert "command 129" + ("" if service.bare else " · exit code 3") in table
    assert "--jp-error-color1" in table
    assert not re.search(r"#[0-9a-fA-F]{3}", table)  # no colour but the theme's


@pytest.mark.both_services
def test_all_its_times_are_on_one_clock_that_it_names(service, open_panel):
    schedule = service.schedules.add("report", time_zone="Asia/Tokyo")
    service.schedules.act(schedule, "done", nominal_time="2026-11-21T00:00:00Z")
    shown = open_panel("12").text
    if service.bare:  # the next run is a time of the schedule's zone, 09:00 in Tokyo
        assert "Sun 22 Nov 01:00" in shown
    assert ">01:00<" in shown
    assert "as of 13:00:00 (Europe/Paris)" in shown


def test_a_step_is_confirmed_once_and_names_the_schedule(service, panel):
    panel.press("Suspend")
    assert panel.buttons("No, leave it")
    assert "Suspend report &lt;b&gt; (12)?" in panel.text
    assert panel.enabled(*STEPS) == set()
    assert service.schedules.bodies == []
    panel.press("Suspend report <b>")
    assert service.schedules.bodies == [{"status": "suspend"}]
    assert panel.buttons("No, leave it") == []
    assert "‖ suspended" in panel.text
    assert "none until it is resumed" in panel.text
    assert "report &lt;b&gt; (12) is suspended" in panel.text
    assert panel.enabled(*STEPS) == {"Resume", "Run again", "End"}


def test_an_error_that_nobody_foresaw_is_shown_and_the_panel_goes_on(service, client, panel, monkeypatch):
    def fail(number):
        raise RuntimeError("<b>a bug</b>")

    with monkeypatch.context() as patch:
        patch.setattr(client.schedules, "suspend", fail)
        panel.press("Suspend")
        panel.press("Suspend report <b>")
    assert "unexpected error, RuntimeError: &lt;b&gt;a bug&lt;/b&gt;" in panel.text
    assert "working" not in panel.text
    panel.press("Suspend")
    panel.press("Suspend report <b>")
    assert service.schedules.bodies == [{"status": "suspend"}]


def test_no_leaves_it(service, panel):
    panel.press("End")
    assert "It never runs again" in panel.text
    panel.press("No, leave it")
    assert panel.buttons("No, leave it") == []
    assert service.schedules.bodies == []
    assert panel.enabled(*STEPS) == {"Suspend", "Run again", "End"}


def test_a_second_press_of_yes_does_nothing(service, panel):
    panel.press("End")
    yes = panel.button("End report <b>")
    yes.click()
    yes.click()
    panel.settle()
    assert service.schedules.bodies == [{"status": "kill"}]
    assert "report &lt;b&gt; (12) has ended" in panel.text
    assert "none: it was ended by hand" in panel.text
    assert panel.enabled(*STEPS) == set()


def test_the_chosen_action_runs_again(service, panel):
    assert panel.field("Run").value == 3
    panel.choose("Run", 2)
    panel.press("Run again")
    assert "Run 2 of report &lt;b&gt; (12) again, for 09:00?" in panel.text
    panel.press("Run 2 of report <b> again")
    assert [action["sequence_id"] for action in service.schedules.actions.values()] == [1, 2, 3, 2]
    assert "2 (rerun 1)" in panel.text
    assert "run 2 of report &lt;b&gt; (12) starts again" in panel.text
    assert panel.field("Run").value == 2


def test_a_refusal_of_the_service_is_reported_with_a_button_to_try_again(service, panel):
    service.refusal = (403, "you may not: scheduler, update")
    panel.press("Suspend")
    panel.press("Suspend report <b>")
    assert panel.buttons("Try again")
    assert "you may not: scheduler, update" in panel.text
    assert panel.enabled(*STEPS) == {"Suspend", "Run again", "End"}
    service.refusal = None
    panel.press("Try again")
    assert panel.buttons("Try again") == []


def test_a_service_that_hangs_does_not_hold_up_the_notebook(service, panel):
    service.held = threading.Event()
    panel.button("Refresh").click()  # returns at once
    assert not service.held.is_set()
    service.schedules.schedules[12]["status"] = "DONE"
    service.held.set()
    panel.settle()
    assert "ended" in panel.text


def test_a_panel_that_is_seen_looks_again_by_itself(service, panel, monkeypatch):
    monkeypatch.setattr("svc_jupyter.widgets.schedules.model.BUSY_SECONDS", 0.01)
    service.schedules.schedules[12]["status"] = "DONE"
    panel.view(visible=True)
    wait_until(lambda: "■ ended" in panel.text)
    panel.view(visible=False)
    panel.settle()
    requests = len(service.requests)
    panel.settle()
    assert len(service.requests) == requests


def test_one_of_several_schedules_is_chosen(service, schedule, open_panel):
    service.schedules.add("other", status="SUSPENDED")
    panel = open_panel(None)
    assert [text for text, _ in panel.field("Schedule").options] == [
        "report <b> (12) · ● active",
        "other (13) · ‖ suspended",
    ]
    panel.choose("Schedule", 13)
    assert "other (13)" in panel.text
    assert "It has not run yet." in panel.text
    service.schedules.schedules[13]["status"] = "KILLED"
    panel.press("Refresh")
    assert ("other (13) · ■ ended", 13) in panel.field("Schedule").options
    assert panel.field("Schedule").value == 13
    assert "other (13)" in panel.text


def test_choosing_another_takes_the_question_back(service, schedule, open_panel):
    service.schedules.add("other")
    panel = open_panel(None)
    panel.press("Suspend")
    panel.choose("Schedule", 12)
    assert panel.buttons("No, leave it") == []
    assert service.schedules.bodies == []


def test_without_schedules_the_first_step_is_offered(open_panel):
    panel = open_panel(None)
    assert "There are no schedules yet" in panel.text
    assert panel.enabled(*STEPS, "Refresh") == set()
    assert not [part for part in panel.parts if isinstance(part, Dropdown)]


@pytest.mark.both_services
def test_besides_the_widgets_there_is_a_text(service, panel):
    bundle = mime_bundle_of(panel.panel)
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.panel.box.model_id
    text = bundle["text/plain"]
    assert text == repr(panel.panel)
    assert text.startswith("schedule report <b> (12) · ● active")
    assert "  2  09:00  ✗ failed   command 129" + ("" if service.bare else " · exit code 3") in text


def test_a_closed_panel_ends_its_thread(panel):
    thread = finish(panel.panel.model.worker)
    panel.panel.close()
    thread.join(20)
    assert not thread.is_alive()
