"""The schedule panel in a real kernel on a real service, pressed as a front end does: by messages to its widgets."""

import pytest
from tests.integration.kernel_session import SECONDS
from tests.support.service_process import wait_until

VIEW = "application/vnd.jupyter.widget-view+json"


class FrontEnd:
    """The widgets of a kernel, as a front end knows them by its messages."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.states = {}

    def see(self, message):
        """Take note of a message about a widget."""
        content = message["content"]
        if message["msg_type"] == "comm_open":
            self.states[content["comm_id"]] = dict(content["data"]["state"])
        elif message["msg_type"] == "comm_msg" and content["data"].get("method") == "update":
            self.states.setdefault(content["comm_id"], {}).update(content["data"]["state"])

    def send(self, comm_id, data):
        client = self.kernel.client
        client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": comm_id, "data": data}))

    def press(self, description):
        """Press a button as soon as it is there and can be pressed."""
        self.wait(lambda: self.buttons(description))
        [button] = self.buttons(description)
        self.send(button, {"method": "custom", "content": {"event": "click"}})

    def buttons(self, description):
        named = {key: state for key, state in self.states.items() if state.get("description") == description}
        return [key for key, state in named.items() if not state["disabled"]]

    def show(self, comm_id, views):
        self.send(comm_id, {"method": "update", "state": {"_view_count": views}, "buffer_paths": []})

    def wait_for(self, text):
        """Take messages until a widget shows this text."""
        self.wait(lambda: any(text in str(state.get("value", "")) for state in self.states.values()))

    def wait(self, claim):
        while not claim():
            self.see(self.kernel.client.get_iopub_msg(timeout=SECONDS))


@pytest.fixture
def schedule(shared_service):
    """A schedule of a shell command that has run once and comes next in years, by its name."""
    body = {
        "command_type": "ShellCommand",
        "command": {"inline": "echo hi"},
        "name": "panelled",
        "cron_expression": "0 0 9 1 1 ? 2090",
    }
    answer = shared_service.http.post("/scheduler", json=body)
    assert answer.status_code == 200, answer.text
    yield answer.json()
    shared_service.http.put(f"/scheduler/{answer.json()['id']}", json={"status": "kill"})


def status_of(service, schedule):
    return service.http.get(f"/scheduler/{schedule['id']}").json()["status"]


def test_a_press_reaches_the_service_and_its_answer_the_panel(kernel, shared_service, schedule):
    front_end = FrontEnd(kernel)
    cell = kernel.run(f"%svc_schedule panel {schedule['id']}", front_end.see)
    assert cell.status == "ok", cell.error
    box = cell.result[VIEW]["model_id"]
    assert "panelled" in cell.result["text/plain"]
    assert front_end.states[box]["children"]

    front_end.press("Suspend")
    front_end.wait_for("No further run begins until it is resumed")
    assert status_of(shared_service, schedule) == "RUNNING"
    front_end.press("Suspend panelled")
    front_end.wait_for("‖ suspended")
    assert status_of(shared_service, schedule) == "SUSPENDED"

    # What somebody else does is seen without a press, while the panel is.
    assert (
        kernel.run(
            "from svc_jupyter.widgets.schedules import model as schedule_model; schedule_model.CALM_SECONDS = 0.1"
        ).status
        == "ok"
    )
    front_end.show(box, 1)
    shared_service.http.put(f"/scheduler/{schedule['id']}", json={"status": "resume"})
    front_end.wait_for("● active")


def test_unloading_closes_the_panel(kernel, schedule):
    front_end = FrontEnd(kernel)
    kernel.run(f"%svc_schedule panel {schedule['id']}", front_end.see)
    closed = set()

    def note(message):
        if message["msg_type"] == "comm_close":
            closed.add(message["content"]["comm_id"])

    kernel.run("%unload_ext svc_jupyter", note)
    assert closed == set(front_end.states)
    alive = "[t.name for t in __import__('threading').enumerate() if t.name == 'svc-panel']"
    wait_until(lambda: kernel.value(alive) == [], "the panel's thread ends")
