"""The folders of commands: each belongs to one command of one database forever."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from tests.service.commands.rows import command_row

from svc_jupyter.service.commands.rows import CommandRow, RootName, command_root, new_folder_key, parse_root_name
from svc_jupyter.service.schema.commands import commands

PLACE = Path("/data/commands")


def test_two_commands_with_the_same_id_have_folders_of_their_own():
    roots = {command_root(PLACE, 1207, new_folder_key()) for _ in range(100)}
    assert len(roots) == 100
    assert {root.parent for root in roots} == {PLACE / "1"}


def test_a_folder_shows_its_command():
    assert parse_root_name(command_root(PLACE, 41, "0a1b").name) == RootName(41, "0a1b")


def test_another_name_shows_none():
    names = ("", "-", "41", "41-", "x", "-41", "x-0a1b", "¹", ".old")
    assert {name: parse_root_name(name) for name in names} == dict.fromkeys(names)


def test_the_fields_of_a_row_are_the_columns_in_the_table_s_order():
    assert [field.name for field in fields(CommandRow)] == [column.name for column in commands.columns]


def test_an_updated_row_keeps_its_other_values():
    row = command_row(id=3, name="nightly", status="running")
    assert row.updated({"status": "done", "end_time": 2.0}) == command_row(
        id=3, name="nightly", status="done", end_time=2.0, created_at=row.created_at
    )
