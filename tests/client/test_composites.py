"""Results of sub-commands, and executed notebooks."""

from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.support.double.service import ServiceDouble

from svc_jupyter.client import ResultUnavailable

SUB_COMMANDS = [
    {"command_type": "ShellCommand", "inline": "echo hi"},
    {"command_type": "DbTapQueryCommand", "query": "select 1"},
    {"command_type": "ShellCommand", "inline": "true"},
]


def composite_on(service: ServiceDouble) -> int:
    """Make a composite that is done, on a service with the extensions also its children; return its id."""
    composite = service.add("CompositeCommand", command={"sub_commands": SUB_COMMANDS})
    if not service.bare:
        table = pa.table({"n": [1, 2]})
        about = {"parent_id": composite.record["id"], "status": "done"}
        service.add("ShellCommand", child_number=1, **about).results = "hi\r\n"
        query = service.add("DbTapQueryCommand", child_number=2, **about)
        query.table = table
        query.record["result_rows"] = 2
        service.add("ShellCommand", child_number=3, **about).results = ""
    return int(composite.record["id"])


def test_the_results_of_sub_commands_have_their_own_types(connect: Any, extended: ServiceDouble) -> None:
    command = connect(extended).commands.get(composite_on(extended))
    assert command.sub_result(2).to_arrow().to_pydict() == {"n": [1, 2]}
    assert list(command.sub_result(1).to_pandas()["line"]) == ["hi"]
    assert [record.child_number for record in command.sub_commands()] == [1, 2, 3]
    assert [call for call in extended.calls if "parent_id=1" in call and "all_users=1" in call]


def test_without_a_number_the_last_sub_command_with_rows_is_meant(connect: Any, extended: ServiceDouble) -> None:
    command = connect(extended).commands.get(composite_on(extended))
    assert command.sub_result().to_arrow().to_pydict() == {"n": [1, 2]}


def test_a_bare_service_is_asked_by_number(connect: Any, bare: ServiceDouble) -> None:
    command_id = composite_on(bare)
    bare.commands[command_id].results = "a\tb\r\n1\tx\r\n"

    def asked(number: int) -> tuple[list[str], str]:
        command = connect(bare).commands.get(command_id)
        columns = list(command.sub_result(number).to_pandas().columns)
        return columns, bare.calls[-1].partition("/results?")[2]

    assert asked(1) == (["line"], "inline=true&include_headers=false&sequence_number=1")
    assert asked(2) == (["a", "b"], "inline=true&include_headers=true&sequence_number=2")
    assert connect(bare).commands.get(command_id).sub_commands() == []
    assert [call for call in bare.calls if "parent_id" in call] == []


def test_a_number_that_there_is_not_and_a_command_that_is_no_composite(client: Any, service: ServiceDouble) -> None:
    command = client.commands.get(composite_on(service))
    with pytest.raises(ResultUnavailable, match="has 3 sub-commands, numbered from 1"):
        command.sub_result(4)
    alone = client.commands.get(service.add("ShellCommand").record["id"])
    with pytest.raises(ResultUnavailable, match="is not a composite command"):
        alone.sub_result(1)


def test_the_executed_notebook_is_read_as_it_is(connect: Any, extended: ServiceDouble) -> None:
    command = connect(extended).commands.get(extended.add("JupyterNotebookCommand", "error").record["id"])
    for kind, text in (("application/x-ipynb+json", '{"cells": []}'), ("text/html", "<p>ran</p>")):
        extended.next_answers.append(httpx.Response(200, text=text, headers={"Content-Type": f"{kind}; charset=utf-8"}))
        read = command.executed_notebook() if "json" in kind else command.executed_page()
        assert read == text
        assert extended.requests[-1].headers["Accept"] == kind


def test_a_service_that_keeps_no_executed_notebook_is_reported(connect: Any, bare: ServiceDouble) -> None:
    client = connect(bare)
    command = client.commands.get(bare.add("JupyterNotebookCommand").record["id"])
    with pytest.raises(ResultUnavailable, match="does not send the executed notebook"):
        command.executed_notebook()
    other = client.commands.get(bare.add("ShellCommand").record["id"])
    with pytest.raises(ResultUnavailable, match="is a ShellCommand; only a notebook run"):
        other.executed_notebook()
