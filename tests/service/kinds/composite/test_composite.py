"""Which composite commands are accepted, and what their record shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.support.clusters import gate_of

from svc_jupyter.api.commands import SUB_COMMANDS_LIMIT
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.commands.intake import described, new_row
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.composite.kind import CompositeKind
from svc_jupyter.service.kinds.shell.kind import ShellKind
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.service.workspace.form_arguments import CellForms

TRUE = {"command_type": "ShellCommand", "inline": "true"}
NOTHING_ELSE = dict.fromkeys(("script_location", "files", "archives", "parameters"))


@pytest.fixture(params=["sqlite"])
def settings(tmp_path: Any, request: pytest.FixtureRequest, sqlite_schema: Any) -> Settings:
    """One database is enough: nothing here reads it."""
    (tmp_path / "service.db").write_bytes(sqlite_schema.read_bytes())
    return Settings(data_dir=tmp_path)


@pytest.fixture
def gate(settings: Settings, database: Database) -> ClusterGate:
    return gate_of(settings, database, Bus(database))


@pytest.fixture
def kinds(settings: Settings, database: Database, gate: ClusterGate) -> Iterator[dict[str, Any]]:
    secrets = SecretBox(settings.data_dir / "secret.key")
    storage = Storage(settings, database, secrets)
    shell: dict[str, Any] = {"ShellCommand": ShellKind(storage, CellForms(secrets), settings)}
    yield {**shell, "CompositeCommand": CompositeKind(shell, gate)}
    storage.close()


async def test_every_sub_command_is_shown_as_its_type_shows_it(
    kinds: Mapping[str, Any], caller: Caller, gate: ClusterGate
):
    part = {"inline": "echo $x$", "name": "second", "tag": ["a", "b"], "retry": 2, "can_notify": None, "unknown": 1}
    body = {"command_type": "CompositeCommand", "sub_commands": [TRUE, {"command_type": "ShellCommand", **part}]}
    row = await new_row({**body, "macros": [{"x": "1 + 1"}], "name": "both"}, caller, kinds, gate)
    assert (row["command_type"], row["name"], row["resolved_macros"]) == ("CompositeCommand", "both", [{"x": 2}])
    assert row["command"] == {
        "sub_commands": [
            {**TRUE, **NOTHING_ELSE},
            {
                "command_type": "ShellCommand",
                "inline": "echo $x$",
                **NOTHING_ELSE,
                "name": "second",
                "tags": "[a,b]",
                "retry": 2,
            },
        ]
    }


INVALID = [
    (None, "sub_commands: Field required"),
    ([], "sub_commands: List should have at least 1 item after validation, not 0"),
    (
        [TRUE] * (SUB_COMMANDS_LIMIT + 1),
        f"sub_commands: List should have at most {SUB_COMMANDS_LIMIT} items after validation, "
        f"not {SUB_COMMANDS_LIMIT + 1}",
    ),
    ({"1": TRUE}, "sub_commands: Input should be a valid list"),
    ([TRUE, "true"], "sub_commands.1: Input should be a valid dictionary"),
    ([TRUE, {"inline": "true"}], "sub-command 2: command_type is missing; it must be one of ShellCommand"),
    ([TRUE, {"command_type": ["x"]}], "sub-command 2: command_type must be a string"),
    (
        [TRUE, {"command_type": "Shell"}],
        "sub-command 2: command_type 'Shell' is unknown; it must be one of ShellCommand",
    ),
    (
        [{"command_type": "HiveCommand"}],
        "sub-command 1: command_type 'HiveCommand' is unknown; it must be one of ShellCommand",
    ),
    (
        [{"command_type": "CompositeCommand", "sub_commands": [TRUE]}],
        "sub-command 1: a composite command cannot hold another one",
    ),
    (
        [TRUE, {"command_type": "ShellCommand"}],
        "sub-command 2 (ShellCommand): give exactly one of inline and script_location",
    ),
    (
        [TRUE, {**TRUE, "name": "<b>"}],
        "sub-command 2 (ShellCommand): name: must not contain & < > \" ', "
        "control characters or overrides of the direction of writing",
    ),
    (
        [TRUE, {**TRUE, "label": "no such"}],
        "sub-command 2 (ShellCommand): no cluster has the label 'no such'; no cluster has a label",
    ),
    ([TRUE, {**TRUE, "retry": 4}], "sub-command 2 (ShellCommand): retry: Input should be less than or equal to 3"),
    ([{**TRUE, "inline": "a\0b"}], "sub-command 1 (ShellCommand): inline holds a NUL character"),
    (
        [{**TRUE, "macros": [{"x": "nothing.there"}]}],
        "sub-command 1 (ShellCommand): macro 'x': ReferenceError: nothing is not defined",
    ),
]


async def test_an_invalid_composite_command_is_refused_with_the_reason(
    kinds: Mapping[str, Any], caller: Caller, gate: ClusterGate
):
    async def refusal(sub_commands: Any) -> str:
        with pytest.raises(Invalid) as refused:
            await new_row({"command_type": "CompositeCommand", "sub_commands": sub_commands}, caller, kinds, gate)
        failed, _, reason = refused.value.message.partition(": ")
        assert failed == "CompositeCommand could not be created"
        return reason

    assert [(sub_commands, await refusal(sub_commands)) for sub_commands, _ in INVALID] == INVALID


async def test_macros_of_a_sub_command_may_build_on_those_of_the_composite(
    kinds: Mapping[str, Any], caller: Caller, gate: ClusterGate
):
    part = {**TRUE, "macros": [{"table": "'t_' + day"}]}
    body = {"sub_commands": [part], "macros": [{"day": "'monday'"}]}
    command = await described("CompositeCommand", body, caller, kinds, gate)
    assert command == {"sub_commands": [{**part, **NOTHING_ELSE}]}
    with pytest.raises(Invalid, match=r"CompositeCommand could not be created: sub-command 1 .*macro 'table'"):
        await described("CompositeCommand", {"sub_commands": [part]}, caller, kinds, gate)
