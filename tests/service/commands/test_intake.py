"""From a request's body to a row: the rules of the common parameters, one case each."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.support.clusters import gate_of, make_default_cluster

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.commands import CommandType, ShellSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.intake import new_row
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
RowOf = Callable[..., Awaitable[dict[str, Any]]]
CALLER = Caller(5, 3, "a@example.org", frozenset({BuiltinGroup.USER}), 1)


class PlainShell:
    """The validation of a shell command without what only a storage can know."""

    command_type = CommandType.SHELL

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        assert caller.user_id == CALLER.user_id
        return ShellSubmission.model_validate(body).model_dump()

    async def run(self, task: Task, desk: Desk) -> Outcome:
        raise NotImplementedError


KINDS = {"ShellCommand": PlainShell()}


@pytest.fixture
def row_of(settings: Settings, database: Database, account_id: int) -> RowOf:
    """Return a function that makes the row of a submission; there is the default cluster."""
    make_default_cluster(database)
    gate = gate_of(settings, database, Bus(database))
    caller = replace(CALLER, account_id=account_id)

    async def row_of(**fields: Any) -> dict[str, Any]:
        return await new_row({"command_type": "ShellCommand", "inline": "true", **fields}, caller, KINDS, gate)

    return row_of


async def test_a_row_of_the_least_that_is_needed(row_of: RowOf):
    before = time.time()
    row = await row_of()
    assert before <= row.pop("created_at") <= time.time()
    assert row == {
        "account_id": 1,
        "user_id": 5,
        "command_type": "ShellCommand",
        "command_source": "API",
        "status": "waiting",
        "command": {
            "inline": "true", "script_location": None, "files": None, "archives": None, "parameters": None,
        },
        "name": None,
        "tags": None,
        "label": None,
        "pool": None,
        "timeout": None,
        "retry": 0,
        "retry_delay": None,
        "can_notify": False,
        "resolved_macros": None,
        "cluster_id": None,
    }  # fmt: skip


ACCEPTED: list[tuple[str, Any, Any]] = [
    ("name", "daily sales", "daily sales"),
    ("name", "n" * 255, "n" * 255),
    ("name", "", ""),
    ("name", None, None),
    ("name", "grün 🦆 #1 (a/b)", "grün 🦆 #1 (a/b)"),
    ("tags", "[a,b]", "[a,b]"),
    ("tags", "[ a , b ]", "[a,b]"),
    ("tags", ["a", "b"], "[a,b]"),
    ("tags", "[]", None),
    ("tags", [], None),
    ("tags", "[" + "t" * 253 + "]", "[" + "t" * 253 + "]"),
    ("timeout", 1, 1),
    ("timeout", 129_600, 129_600),
    ("timeout", 2**31 - 1, 2**31 - 1),
    ("timeout", None, None),
    ("label", "default", "default"),
    ("label", None, None),
    ("pool", "etl", "etl"),
    ("retry", 0, 0),
    ("retry", 3, 3),
    ("retry", None, 0),
    ("retry_delay", 0, 0),
    ("retry_delay", 1440, 1440),
    ("can_notify", True, True),
    ("can_notify", None, False),
    ("unheard_of", {"a": 1}, None),
]


@pytest.mark.parametrize(("key", "value", "stored"), ACCEPTED)
async def test_values_that_are_taken(key: str, value: Any, stored: Any, row_of: RowOf):
    assert (await row_of(**{key: value})).get(key) == stored


async def test_tag_is_another_name_of_tags(row_of: RowOf):
    assert (await row_of(tag="[a]"))["tags"] == "[a]"


REFUSED: list[tuple[str, Any, str]] = [
    ("name", "n" * 256, "name: String should have at most 255 characters"),
    *[("name", f"a{character}b", "name: must not contain & < > \" '") for character in "&<>\"'\n\x00"],
    ("name", "<b>bold</b>", "name: must not contain"),
    ("name", 7, "name: Input should be a valid string"),
    ("tags", "a,b", "tags: must be comma-separated tags in square brackets"),
    ("tags", "[a", "tags: must be comma-separated tags in square brackets"),
    ("tags", "[a,,b]", "tags: a tag must not be empty"),
    ("tags", "[a,[b]]", "tags: a tag must not be empty nor hold"),
    ("tags", ["a,b"], "tags: a tag must not be empty nor hold a comma"),
    ("tags", ["a", 1], "tags: must be a text such as [daily,sales] or an array of strings"),
    ("tags", {"a": 1}, "tags: must be a text such as"),
    ("tags", "[" + "t" * 254 + "]", "tags: must have at most 255 characters, has 256"),
    ("tags", "[<b>]", "tags: must not contain"),
    ("timeout", 0, "timeout: Input should be greater than or equal to 1"),
    ("timeout", -5, "timeout: Input should be greater"),
    ("timeout", "an hour", "timeout: Input should be a valid integer"),
    ("timeout", 1.5, "timeout: Input should be a valid integer"),
    ("timeout", True, "timeout: Input should be a valid integer"),
    ("timeout", 2**31, "timeout: Input should be less than or equal to"),
    ("label", "spark", "no cluster has the label 'spark'; there are: default"),
    ("label", ["default"], "label: Input should be a valid string"),
    ("pool", "p" * 256, "pool: String should have at most 255 characters"),
    ("pool", "a\x00b", "pool: String should match pattern"),
    ("retry", 4, "retry: Input should be less than or equal to 3"),
    ("retry", -1, "retry: Input should be greater"),
    ("retry_delay", -1, "retry_delay: Input should be greater"),
    ("retry_delay", 1441, "retry_delay: Input should be less"),
    ("can_notify", "yes", "can_notify: Input should be a valid boolean"),
    ("macros", {"a": "1"}, "macros: Input should be a valid list"),
    ("macros", ["1"], "macros.0: Input should be a valid dictionary"),
    ("macros", [{"a": 1}], "macros.0.a: Input should be a valid string"),
    ("macros", [{"a b": "1"}], "macros: macro 1: 'a b' is not a variable name"),
    ("macros", [{"a": "nowhere.to.be.found"}], "macro 'a': ReferenceError: nowhere"),
    ("macros", [{"a": "1"}] * 101, "macros: List should have at most 100 items"),
]


@pytest.mark.parametrize(("key", "value", "reason"), REFUSED)
async def test_values_that_are_refused_name_their_key(key: str, value: Any, reason: str, row_of: RowOf):
    with pytest.raises(Invalid) as raised:
        await row_of(**{key: value})
    assert raised.value.message.startswith(f"ShellCommand could not be created: {reason}")


async def test_macros_are_resolved_at_submission(row_of: RowOf):
    macros = [{"day": "Service_nominal_time.format('YYYY')"}, {"next": "Number(day) + 1"}]
    resolved = (await row_of(macros=macros))["resolved_macros"]
    year = int(resolved[0]["day"])
    assert resolved == [{"day": str(year)}, {"next": year + 1}]
    assert year >= 2024


async def test_a_macro_that_loops_is_refused_in_bounded_time(row_of: RowOf):
    with pytest.raises(Invalid, match=r"^ShellCommand could not be created: .*\bspin\b"):
        await row_of(macros=[{"spin": "(() => { for (;;); })()"}])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"command_type": None},
            "Command could not be created: command_type is missing; it must be one of ShellCommand",
        ),
        ({"command_type": 7}, "Command could not be created: command_type must be a string"),
        (
            {"command_type": "Shell"},
            "Shell could not be created: command_type 'Shell' is unknown; it must be one of ShellCommand",
        ),
        (
            {"command_type": "PigCommand"},
            "PigCommand could not be created: command_type 'PigCommand' is unknown; it must be one of",
        ),
        ({"command_type": "AddNodeCommand"}, "AddNodeCommand could not be created: the service makes it when nodes"),
        ({"inline": None}, "ShellCommand could not be created: give exactly one of inline and script_location"),
        ({"inline": " \n"}, "ShellCommand could not be created: give exactly one of inline and script_location"),
        (
            {"script_location": "s3://bucket/a.sh"},
            "ShellCommand could not be created: give exactly one of inline and script_location",
        ),
    ],
)
async def test_a_command_without_a_valid_type_and_exactly_one_script_is_refused(
    fields: dict[str, Any], message: str, row_of: RowOf
):
    with pytest.raises(Invalid) as raised:
        await row_of(**fields)
    assert raised.value.message.startswith(message)
