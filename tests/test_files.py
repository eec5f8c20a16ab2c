"""Files that a reader sees whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from svc_jupyter.files import replacing, write_whole


def mode_of(file: Path) -> int:
    return file.stat().st_mode & 0o777


@pytest.mark.parametrize("content", ["naïve\n", b"na\xc3\xafve\n"])
def test_a_text_is_written_as_utf_8_and_bytes_as_they_are(tmp_path: Path, content: str | bytes):
    write_whole(tmp_path / "file", content)
    assert (tmp_path / "file").read_bytes() == b"na\xc3\xafve\n"
    assert os.listdir(tmp_path) == ["file"]


def test_a_reader_of_the_old_file_keeps_it(tmp_path: Path):
    file = tmp_path / "file"
    write_whole(file, "old")
    with file.open() as reader:
        write_whole(file, "new", durable=True)
        assert (reader.read(), file.read_text()) == ("old", "new")


def test_the_mode_holds_whatever_the_umask_and_the_old_file_say(tmp_path: Path):
    file = tmp_path / "file"
    file.touch(0o644)
    before = os.umask(0o277)
    try:
        write_whole(file, "secret", mode=0o700)
        write_whole(tmp_path / "usual", "")
    finally:
        os.umask(before)
    assert (mode_of(file), mode_of(tmp_path / "usual")) == (0o700, 0o400)


def test_a_failed_write_keeps_the_old_file_and_leaves_no_draft(tmp_path: Path):
    file = tmp_path / "file"
    write_whole(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "\udcff")

    def fail() -> None:
        with replacing(file) as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (file.read_text(), os.listdir(tmp_path)) == ("old", ["file"])


def test_two_writers_of_one_file_have_a_draft_each(tmp_path: Path):
    file = tmp_path / "file"
    with replacing(file) as one, replacing(file) as other:
        one.write_text("one")
        other.write_text("other")
    assert (file.read_text(), os.listdir(tmp_path)) == ("one", ["file"])
