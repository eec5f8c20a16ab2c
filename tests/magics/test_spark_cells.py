"""Cells of the kernel Spark (svc) that need no cluster: their forms have their values, as in the cells of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.service_process import ServiceProcess

from svc_jupyter.magics import load
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.spark_kernel.cells import cell_of
from svc_jupyter.spark_kernel.conversation import Conversation


@pytest.fixture
def conversation(at_work) -> Conversation:
    return Conversation(at_work.shell, load(at_work.shell).session)


@pytest.fixture
def run(conversation: Conversation) -> Callable[[str], Any]:
    return lambda text: conversation.run(cell_of(text, []))


def record_of(service: ServiceProcess, script: str) -> dict[str, Any]:
    """Return the record of the newest command with this script."""
    commands = service.http.get("/commands?per_page=100").json()["commands"]
    return next(one for one in commands if (one["command"].get("inline") or "").strip() == script)


def test_a_shell_cell_has_the_values_of_its_forms(conversation, run, workplace, capsys):
    conversation.forms.fill({"city": "Köln; $(echo no)", "pin": "hunter2"}, ["pin"])
    text = "echo ${city=Rome}, '${day=1,1|2}', $(printf %s ${password:pin} | wc -c) ${UNSET:-of the shell}"
    run(f"%sh\n{text}")
    assert capsys.readouterr().out == "Köln; $(echo no), 1, 7 of the shell\n"
    record = record_of(workplace.service, text)
    assert record["command"]["cell"] == {"forms": {"city": "Köln; $(echo no)", "pin": "<hidden>"}}
    assert "hunter2" not in str(record)


def test_what_a_record_shows_of_a_cell_runs_again(conversation, run, workplace):
    conversation.forms.type({"day": "2"})
    text = "echo ${day=1,1|2} # again"
    run(f"%sh\n{text}")
    service = workplace.service
    shown = record_of(service, text)["command"]
    body = {name: value for name, value in shown.items() if value is not None}
    again = service.http.post("/commands", json={"command_type": "ShellCommand", **body}).json()["id"]
    assert service.ended(again)["status"] == "done"
    assert service.text(again).split() == ["2"]


def test_a_markdown_cell_has_the_values_of_its_forms(conversation, run, at_work):
    conversation.forms.type({"city": "*Rome*"})
    run("%md\n# ${city=Paris} on ${day=1}")
    (shown,) = [sent["data"] for sent in at_work.shell.display_pub.sent]
    assert shown == {"text/markdown": "# \\*Rome\\* on 1", "text/plain": "# *Rome* on 1"}


def test_a_value_that_a_form_cannot_have_is_named(conversation, run):
    conversation.forms.type({"day": "3"})
    with pytest.raises(SvcUsageError, match=r"^form day has no option '3'; there are 1, 2$"):
        run("%md ${day=1,1|2}")
    with pytest.raises(SvcMagicError, match=r"form day has no option '3'; there are 1, 2"):
        run("%sh\necho ${day=1,1|2}")


def test_the_line_of_an_error_is_the_line_of_the_cell(run):
    with pytest.raises(SvcMagicError) as failed:
        run("%sh\ntrue\nnot_there ${name=x}")
    assert "  line 3: not_there: command not found\n  script, line 3: not_there ${name=x}\n" in str(failed.value)
