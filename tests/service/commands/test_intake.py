"""From a request's body to a row: the rules of the common parameters, one case each."""

from __future__ import annotations

import math
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
            "cell": None,
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


async def test_values_that_are_taken(row_of: RowOf):
    assert [(key, value, (await row_of(**{key: value})).get(key)) for key, value, _ in ACCEPTED] == ACCEPTED


async def test_tag_is_another_name_of_tags(row_of: RowOf):
    assert (await row_of(tag="[a]"))["tags"] == "[a]"


async def refusal(row_of: RowOf, **fields: Any) -> str:
    with pytest.raises(Invalid) as refused:
        await row_of(**fields)
    return refused.value.message


MARKUP = "must not contain & < > \" ', control characters or overrides of the direction of writing"
NO_TAGS = "tags: must be comma-separated tags in square brackets, as in [daily,sales]"
NO_TAG = "tags: a tag must not be empty nor hold a comma, a square bracket or a control character"
TAGS_OF_ANOTHER_TYPE = "tags: must be a text such as [daily,sales] or an array of strings"
REFUSED: list[tuple[str, Any, str]] = [
    ("name", "n" * 256, "name: String should have at most 255 characters"),
    *[("name", f"a{character}b", f"name: {MARKUP}") for character in "&<>\"'\n\x00"],
    ("name", "<b>bold</b>", f"name: {MARKUP}"),
    ("name", 7, "name: Input should be a valid string"),
    ("tags", "a,b", NO_TAGS),
    ("tags", "[a", NO_TAGS),
    ("tags", "[a,,b]", NO_TAG),
    ("tags", "[a,[b]]", NO_TAG),
    ("tags", ["a,b"], NO_TAG),
    ("tags", ["a", 1], TAGS_OF_ANOTHER_TYPE),
    ("tags", {"a": 1}, TAGS_OF_ANOTHER_TYPE),
    ("tags", "[" + "t" * 254 + "]", "tags: must have at most 255 characters, has 256"),
    ("tags", "[<b>]", f"tags: {MARKUP}"),
    ("timeout", 0, "timeout: Input should be greater than or equal to 1"),
    ("timeout", -5, "timeout: Input should be greater than or equal to 1"),
    ("timeout", "an hour", "timeout: Input should be a valid integer"),
    ("timeout", 1.5, "timeout: Input should be a valid integer"),
    ("timeout", math.nan, "timeout: Input should be a valid integer"),
    ("timeout", True, "timeout: Input should be a valid integer"),
    ("timeout", 2**31, "timeout: Input should be less than or equal to 2147483647"),
    ("label", "spark", "no cluster has the label 'spark'; there are: default"),
    ("label", ["default"], "label: Input should be a valid string"),
    ("pool", "p" * 256, "pool: String should have at most 255 characters"),
    ("pool", "a\x00b", r"pool: String should match pattern '^[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*$'"),
    ("retry", 4, "retry: Input should be less than or equal to 3"),
    ("retry", -1, "retry: Input should be greater than or equal to 0"),
    ("retry_delay", -1, "retry_delay: Input should be greater than or equal to 0"),
    ("retry_delay", 1441, "retry_delay: Input should be less than or equal to 1440"),
    ("can_notify", "yes", "can_notify: Input should be a valid boolean"),
    ("macros", {"a": "1"}, "macros: Input should be a valid list"),
    ("macros", ["1"], "macros.0: Input should be a valid dictionary"),
    ("macros", [{"a": 1}], "macros.0.a: Input should be a valid string"),
    (
        "macros",
        [{"a b": "1"}],
        "macros: macro 1: 'a b' is not a variable name (letters, digits and _, not first a digit)",
    ),
    ("macros", [{"a": "nowhere.to.be.found"}], "macro 'a': ReferenceError: nowhere is not defined"),
    ("macros", [{"a": "while (true) {}"}], "macro 'a': SyntaxError: unexpected token in expression: 'while'"),
    ("macros", [{"a": "1"}] * 101, "macros: List should have at most 100 items after validation, not 101"),
]


async def test_values_that_are_refused_name_their_key(row_of: RowOf):
    assert [(key, value, await refusal(row_of, **{key: value})) for key, value, _ in REFUSED] == [
        (key, value, f"ShellCommand could not be created: {reason}") for key, value, reason in REFUSED
    ]


async def test_macros_are_resolved_at_submission(row_of: RowOf):
    macros = [{"day": "Service_nominal_time.format('YYYY')"}, {"next": "Number(day) + 1"}]
    resolved = (await row_of(macros=macros))["resolved_macros"]
    year = int(resolved[0]["day"])
    assert resolved == [{"day": str(year)}, {"next": year + 1}]
    assert year >= 2024


async def test_a_macro_that_loops_is_refused_in_bounded_time(row_of: RowOf):
    with pytest.raises(Invalid, match=r"^ShellCommand could not be created: .*\bspin\b"):
        await row_of(macros=[{"spin": "(() => { for (;;); })()"}])


ONE_SCRIPT = "ShellCommand could not be created: give exactly one of inline and script_location"
ONE_TYPE = "it must be one of ShellCommand"
WITHOUT_TYPE_OR_SCRIPT: list[tuple[dict[str, Any], str]] = [
    ({"command_type": None}, f"Command could not be created: command_type is missing; {ONE_TYPE}"),
    ({"command_type": 7}, "Command could not be created: command_type must be a string"),
    ({"command_type": ["ShellCommand"]}, "Command could not be created: command_type must be a string"),
    ({"command_type": "Shell"}, f"Shell could not be created: command_type 'Shell' is unknown; {ONE_TYPE}"),
    (
        {"command_type": "PigCommand"},
        f"PigCommand could not be created: command_type 'PigCommand' is unknown; {ONE_TYPE}",
    ),
    (
        {"command_type": "AddNodeCommand"},
        "AddNodeCommand could not be created: the service makes it when nodes are added or removed",
    ),
    ({"inline": None}, ONE_SCRIPT),
    ({"inline": " \n"}, ONE_SCRIPT),
    ({"script_location": "s3://bucket/a.sh"}, ONE_SCRIPT),
    ({"inline": 7}, "ShellCommand could not be created: inline: Input should be a valid string"),
]


async def test_a_command_without_a_valid_type_and_exactly_one_script_is_refused(row_of: RowOf):
    refused = [(fields, await refusal(row_of, **fields)) for fields, _ in WITHOUT_TYPE_OR_SCRIPT]
    assert refused == WITHOUT_TYPE_OR_SCRIPT
