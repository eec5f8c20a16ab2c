"""The panel's widgets, pressed as a front end presses them, with a service behind."""

import threading

import pytest
from tests.magics.service_double import wait_until


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


def shown(part):
    return part.layout.display != "none"


def press(panel, name):
    """Press the button with this text, which must be there and enabled; wait until what it began is done."""
    [button] = [part for part in panel._parts if getattr(part, "description", None) == name]
    assert not button.disabled
    button.click()
    settle(panel)


def settle(panel):
    ended = threading.Event()
    panel.model.worker.submit(ended.set)
    assert ended.wait(20)


def enabled(panel):
    return {str(step) for step, button in panel._buttons.items() if not button.disabled}


def test_it_shows_the_next_runs_and_the_last_actions(service, panel):
    assert "report &lt;b&gt; (12)" in panel._title.value
    assert "◐ RUNNING" in panel._title.value
    times = "Sun 22 Nov 09:00" if service.bare else "Sun 22 Nov 09:00 · Mon 23 Nov 09:00"
    assert times in panel._coming.value
    table = panel._actions.value
    assert table.index("◐ running") < table.index("✗ failed") < table.index("✓ done")
    assert "command 129 · exit code 3" in table
    assert "--jp-error-color1" in table
    assert "#" not in table  # no colour but the theme's


def test_a_step_is_confirmed_once_and_names_the_schedule(service, panel):
    press(panel, "Suspend")
    assert shown(panel._asking)
    assert "Suspend report &lt;b&gt; (12)?" in panel._question.value
    assert enabled(panel) == set()
    assert service.schedules.bodies == []
    press(panel, "Suspend report <b>")
    assert service.schedules.bodies == [{"status": "suspend"}]
    assert not shown(panel._asking)
    assert "‖ SUSPENDED" in panel._title.value
    assert "none until it is resumed" in panel._coming.value
    assert "report &lt;b&gt; (12) is SUSPENDED" in panel._foot.value
    assert enabled(panel) == {"Resume", "Run again", "Kill"}


def test_an_error_that_nobody_foresaw_is_shown_and_the_panel_goes_on(service, panel, monkeypatch):
    def fail(question):
        raise RuntimeError("<b>a bug</b>")

    with monkeypatch.context() as patch:
        patch.setattr(panel.model, "_take", fail)
        press(panel, "Suspend")
        press(panel, "Suspend report <b>")
    assert "unexpected error, RuntimeError: &lt;b&gt;a bug&lt;/b&gt;" in panel._problem.value
    assert "working" not in panel._foot.value
    press(panel, "Suspend")
    press(panel, "Suspend report <b>")
    assert service.schedules.bodies == [{"status": "suspend"}]


def test_no_leaves_it(service, panel):
    press(panel, "Kill")
    assert "It never runs again" in panel._question.value
    press(panel, "No, leave it")
    assert not shown(panel._asking)
    assert service.schedules.bodies == []
    assert enabled(panel) == {"Suspend", "Run again", "Kill"}


def test_a_second_press_of_yes_does_nothing(service, panel):
    press(panel, "Kill")
    panel._yes.click()
    panel._yes.click()
    settle(panel)
    assert service.schedules.bodies == [{"status": "kill"}]
    assert enabled(panel) == set()


def test_the_chosen_action_runs_again(service, panel):
    assert panel._which.value == 3
    panel._which.value = 2
    press(panel, "Run again")
    assert "Run action 2 of report &lt;b&gt; (12) again, for 09:00?" in panel._question.value
    press(panel, "Run again action 2 of report <b>")
    assert [action["sequence_id"] for action in service.schedules.actions.values()] == [1, 2, 3, 2]
    assert "2 (rerun 1)" in panel._actions.value
    assert panel._which.value == 2


def test_what_the_service_refuses_is_told_with_a_way_to_try_again(service, panel):
    service.refusal = (403, "you may not: scheduler, update")
    press(panel, "Suspend")
    press(panel, "Suspend report <b>")
    assert shown(panel._failing)
    assert "you may not: scheduler, update" in panel._problem.value
    assert enabled(panel) == {"Suspend", "Run again", "Kill"}
    service.refusal = None
    press(panel, "Try again")
    assert not shown(panel._failing)


def test_a_service_that_hangs_does_not_hold_up_the_notebook(service, panel):
    service.stuck = threading.Event()
    panel._refresh.click()  # returns at once
    assert not service.stuck.is_set()
    service.schedules.schedules[12]["status"] = "DONE"
    service.stuck.set()
    settle(panel)
    assert "DONE" in panel._title.value


def test_a_panel_that_is_seen_looks_again_by_itself(service, panel, monkeypatch):
    monkeypatch.setattr("svc_jupyter.widgets.schedules.model.BUSY_SECONDS", 0.01)
    service.schedules.schedules[12]["status"] = "DONE"
    panel.box._view_count = 1
    wait_until(lambda: "DONE" in panel._title.value)
    panel.box._view_count = 0
    settle(panel)
    requests = len(service.requests)
    settle(panel)
    assert len(service.requests) == requests


def test_one_of_several_schedules_is_chosen(service, schedule, open_panel):
    service.schedules.add("other", status="SUSPENDED")
    panel = open_panel(None)
    assert [text for text, _ in panel._chooser.options] == [
        "◐ report <b> (12) · RUNNING",
        "‖ other (13) · SUSPENDED",
    ]
    panel._chooser.value = 13
    settle(panel)
    assert "other (13)" in panel._title.value
    assert "It has not run yet." in panel._actions.value
    service.schedules.schedules[13]["status"] = "KILLED"
    press(panel, "Refresh")
    assert ("■ other (13) · KILLED", 13) in panel._chooser.options
    assert panel._chooser.value == 13
    assert "other (13)" in panel._title.value


def test_choosing_another_takes_the_question_back(service, schedule, open_panel):
    service.schedules.add("other")
    panel = open_panel(None)
    press(panel, "Suspend")
    panel._chooser.value = 12
    settle(panel)
    assert panel.model.question is None
    assert service.schedules.bodies == []


def test_without_schedules_the_first_step_is_offered(open_panel):
    panel = open_panel(None)
    assert "There are no schedules yet" in panel._foot.value
    assert not shown(panel._body)
    assert not shown(panel._choosing)


def test_beside_the_widgets_there_is_a_text(panel):
    bundle = panel._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.box.model_id
    text = bundle["text/plain"]
    assert text == repr(panel)
    assert text.startswith("schedule report <b> (12) · ◐ RUNNING")
    assert "  2  09:00  ✗ failed   command 129 · exit code 3" in text


def test_a_closed_panel_ends_its_thread(panel):
    settle(panel)
    thread = panel.model.worker._thread
    panel.close()
    thread.join(20)
    assert not thread.is_alive()
