"""Which processes are a command's, and which only look like it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from tests.support.service_process import wait_until

from svc_jupyter.service.processes.marks import mark_of, marked_processes
from svc_jupyter.service.processes.worker_parent import MARK

Sleeping = Callable[[str | None, Path], psutil.Process]


@pytest.fixture
def sleeping() -> Iterator[Sleeping]:
    """Return a function that starts a process with or without a mark, in a working folder."""
    started: list[subprocess.Popen[bytes]] = []

    def start(mark: str | None, working: Path) -> psutil.Process:
        marked = {} if mark is None else {MARK: mark}
        started.append(subprocess.Popen(["sleep", "600"], cwd=working, env={"PATH": os.environ["PATH"], **marked}))
        process = psutil.Process(started[-1].pid)
        # For a moment it has neither arguments nor environment.
        wait_until(lambda: process.cmdline()[:1] == ["sleep"], "the program")
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a command."""
    folder = tmp_path / "command"
    folder.mkdir()
    return folder


def test_a_program_belongs_to_the_folder_that_it_names(sleeping: Sleeping, folder: Path):
    process = sleeping(str(folder), Path("/"))
    assert mark_of(process) == str(folder)
    assert list(marked_processes(folder)) == [process]


def test_a_program_that_waited_for_its_command_belongs_to_it_from_then_on(sleeping: Sleeping, tmp_path: Path):
    waiting = sleeping(str(tmp_path), Path("/"))
    assert mark_of(waiting) == str(tmp_path)
    (tmp_path / "command").symlink_to("/attempt")
    assert mark_of(waiting) == "/attempt"


def test_what_lies_in_a_folder_that_a_program_made_up_is_not_opened(sleeping: Sleeping, tmp_path: Path):
    os.mkfifo(tmp_path / "command")  # opening it would wait for ever
    assert mark_of(sleeping(str(tmp_path), tmp_path)) == str(tmp_path)


@pytest.mark.parametrize("made_up", ["x", "../x", "/nowhere", "/" + 5000 * "x"])
def test_a_mark_may_be_any_text(sleeping: Sleeping, made_up: str):
    assert mark_of(sleeping(made_up, Path("/"))) == made_up


def test_a_shell_that_somebody_has_opened_in_a_commands_folder_is_not_the_commands(sleeping: Sleeping, folder: Path):
    process = sleeping(None, folder)
    assert process.cwd() == str(folder)
    assert mark_of(process) is None
    assert list(marked_processes(folder)) == []
