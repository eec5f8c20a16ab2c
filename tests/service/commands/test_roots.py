"""The folders of commands: each belongs to one command of one database for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_jupyter.service.commands.roots import RootName, command_root, new_folder_key, parse_root_name

PLACE = Path("/data/commands")


def test_two_commands_with_the_same_id_have_folders_of_their_own():
    roots = {command_root(PLACE, {"id": 1207, "folder_key": new_folder_key()}) for _ in range(100)}
    assert len(roots) == 100
    assert {root.parent for root in roots} == {PLACE / "1"}


def test_a_folder_tells_its_command():
    assert parse_root_name(command_root(PLACE, {"id": 41, "folder_key": "0a1b"}).name) == RootName(41, "0a1b")


@pytest.mark.parametrize("name", ["", "-", "41", "41-", "x", "-41", "x-0a1b", "¹", ".old"])
def test_another_name_tells_none(name: str):
    assert parse_root_name(name) is None
