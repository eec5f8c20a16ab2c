"""The rows of one DUMP among several."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.service.commands.rows import command_row

from svc_jupyter.service.commands.result_routes import stored_dump
from svc_jupyter.service.ground.errors import NotFound

RESULT = {"form": "arrow", "file": "2/result.arrow", "size": 30, "rows": 3, "columns": [["k", "string"]]}
ROW = command_row(
    id=7,
    result=RESULT,
    outputs={
        "dumps": [
            {"alias": "a", "rows": 1, "size": 10, "columns": [["n", "int32"]]},
            {"alias": "b", "rows": 2, "size": 20, "columns": [["k", "string"]]},
            {"alias": "a", "rows": 3, "size": 30, "columns": [["k", "string"]]},
        ],
        "stores": [],
    },
)


def test_a_dump_is_found_by_number_and_by_alias():
    dumps = {
        "1": ("2/dump-1.arrow", 1),
        "b": ("2/dump-2.arrow", 2),
        "a": ("2/result.arrow", 3),
        "3": ("2/result.arrow", 3),
    }
    found = {wanted: stored_dump(ROW, wanted) for wanted in dumps}
    assert {wanted: (dump.file, dump.rows) for wanted, dump in found.items()} == dumps


def test_a_dump_that_is_not_there_is_reported_with_those_that_are():
    def refusal(wanted: str) -> str:
        with pytest.raises(NotFound) as refused:
            stored_dump(ROW, wanted)
        return refused.value.message

    assert {wanted: refusal(wanted) for wanted in ("0", "4", "c", "")} == {
        "0": "command 7 has no DUMP '0'; there is a, b",
        "4": "command 7 has no DUMP '4'; there is a, b",
        "c": "command 7 has no DUMP 'c'; there is a, b",
        "": "command 7 has no DUMP ''; there is a, b",
    }


def test_another_command_has_no_dumps():
    with pytest.raises(NotFound, match="there is none"):
        stored_dump(replace(ROW, outputs=None), "1")
