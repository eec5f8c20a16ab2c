"""The end of what a program wrote, as a message has it."""

from __future__ import annotations

from pathlib import Path

from svc_jupyter.service.packages.installer import failure
from svc_jupyter.service.processes.output import last_lines
from svc_jupyter.service.processes.tool import Ended

BAR = "Resolving\n\r10 % of it\r20 % of it\n\n\x1b[31mno room\x1b[0m \n"
AS_SHOWN = ["Resolving", "20 % of it", "no room"]


def test_the_end_of_a_file_is_as_a_terminal_shows_it(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(BAR.encode() + b"bad \xff")
    assert last_lines(tmp_path / "log") == [*AS_SHOWN, "bad \ufffd"]
    assert last_lines(tmp_path / "log", BAR.index("\x1b")) == ["no room", "bad \ufffd"]
    assert last_lines(tmp_path / "none") == []


def test_of_a_long_file_the_end_counts_without_a_line_whose_beginning_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("".join(f"line {number}\n" for number in range(20_000)))
    lines = last_lines(tmp_path / "log")
    assert (lines[-1], sum(len(line) + 1 for line in lines)) == ("line 19999", 65_535 // 11 * 11)
    (tmp_path / "log").write_text("a" * 100_000)
    assert [len(line) for line in last_lines(tmp_path / "log")] == [65_536]


def test_the_output_of_a_tool_is_as_a_terminal_shows_it() -> None:
    assert Ended(1, BAR).last_lines == "Resolving\n20 % of it\n\nno room"
    assert str(failure(Ended(1, BAR))) == "Resolving\n20 % of it\n\nno room"
