"""Secrets in the file that Hadoop's programs read at their start; that they can read it, the tests of commands show."""

from __future__ import annotations

import stat
from pathlib import Path

from svc_jupyter.service.runtimes.s3.token_file import token_file, write_token_file


def test_names_and_secrets_follow_their_lengths() -> None:
    assert token_file({"a": "bc", "d": ""}) == b"HDTS\0\0\x02\x01a\x02bc\x01d\x00"
    assert token_file({}) == b"HDTS\0\0\0"


def test_a_length_above_one_byte_is_written_as_hadoop_does() -> None:
    lengths = {127: b"\x7f", 128: b"\x8f\x80", 255: b"\x8f\xff", 256: b"\x8e\x01\x00"}
    assert {length: token_file({"k": "x" * length}) for length in lengths} == {
        length: b"HDTS\0\0\x01\x01k" + written + b"x" * length for length, written in lengths.items()
    }


def test_the_file_is_for_its_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    write_token_file(file, {"ü": "é"})

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == b"HDTS\0\0\x01\x02\xc3\xbc\x02\xc3\xa9"
