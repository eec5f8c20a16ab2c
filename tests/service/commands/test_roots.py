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


def test_a_command_of_before_there_were_keys_keeps_its_folder():
    assert command_root(PLACE, {"id": 1207, "folder_key": None}) == PLACE / "1" / "1207"


@pytest.mark.parametrize("key", [None, "0a1b"])
def test_a_folder_tells_its_command(key: str | None):
    assert parse_root_name(command_root(PLACE, {"id": 41, "folder_key": key}).name) == RootName(41, key)


@pytest.mark.parametrize("name", ["", "-", "41-", "x", "-41", "x-0a1b", "¹", ".old"])
def test_another_name_tells_none(name: str):
    assert parse_root_name(name) is None
