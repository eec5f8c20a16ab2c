"""A command's log, read by byte offset while it grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_jupyter.service.commands import logs

TEXT = "grün 🦆\n".encode()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_a_log_that_is_not_there_yet_is_empty(log: Path):
    assert logs.log_length(log) == 0
    assert list(logs.read_log(log, 0, 0)) == []
    assert logs.read_text_part(log, 5) == ("", 5)


def test_lines_of_the_service_are_appended(log: Path):
    log.write_bytes(b"of the program\n")
    logs.append_line(log, "staging: grün")
    assert log.read_text("utf-8") == "of the program\nstaging: grün\n"
    assert logs.log_length(log) == len(log.read_bytes())


PARTS = {(0, 10): b"0123456789", (3, 6): b"345", (6, 3): b"", (10, 10): b"", (8, 99): b"89", (2**62, 2**62): b""}


def test_bytes_are_read_by_offset(log: Path):
    log.write_bytes(b"0123456789")
    assert {(start, end): b"".join(logs.read_log(log, start, end)) for start, end in PARTS} == PARTS


def test_a_large_log_comes_in_chunks(log: Path):
    log.write_bytes(b"x" * 1_000_000)
    parts = list(logs.read_log(log, 1, 1_000_000))
    assert max(len(part) for part in parts) < 300_000
    assert sum(len(part) for part in parts) == 999_999


def test_text_parts_put_together_are_the_log_however_they_are_cut(log: Path):
    def put_together(limit: int) -> tuple[str, int]:
        offset, texts = 0, []
        while True:
            text, offset = logs.read_text_part(log, offset, limit)
            if not text:
                return "".join(texts), offset
            texts.append(text)

    log.write_bytes(TEXT * 3)
    limits = range(4, 13)
    whole = ("grün 🦆\ngrün 🦆\ngrün 🦆\n", 33)
    assert {limit: put_together(limit) for limit in limits} == dict.fromkeys(limits, whole)


def test_a_character_that_is_still_being_written_waits_for_its_rest(log: Path):
    log.write_bytes(b"a\xf0\x9f")
    assert logs.read_text_part(log, 0) == ("a", 1)
    assert logs.read_text_part(log, 1) == ("", 1)
    log.write_bytes(b"a\xf0\x9f\xa6\x86")
    assert logs.read_text_part(log, 1) == ("🦆", 5)


def test_a_character_that_was_never_finished_is_reported_at_the_end(log: Path):
    log.write_bytes(b"a\xf0\x9f")
    assert logs.read_text_part(log, 0, ended=True) == ("a\ufffd", 3)
    log.write_bytes(TEXT * 2)
    text, offset = logs.read_text_part(log, 0, 6, ended=True)
    assert (text, offset) == ("grün ", 6)


def test_bytes_that_are_no_utf8_are_replaced(log: Path):
    log.write_bytes(b"a\xffb\n")
    assert logs.read_text_part(log, 0) == ("a\ufffdb\n", 4)
