"""Secrets as a file that a Hadoop program reads at its start (`HADOOP_TOKEN_FILE_LOCATION`).

The format is that of `org.apache.hadoop.security.Credentials`: a magic number, a version, the tokens (none here), then
the secrets by name, each text after its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from svc_jupyter.files import write_whole

VARIABLE: Final = "HADOOP_TOKEN_FILE_LOCATION"
"""The environment variable that names the file."""
_MARK: Final = b"HDTS\0"
_ONE_BYTE: Final = 127
_LENGTH_FOLLOWS: Final = 0x90


def token_file(secrets: Mapping[str, str]) -> bytes:
    """Return the content of the file."""
    parts = [_MARK, _number(0), _number(len(secrets))]
    for text in (text for pair in secrets.items() for text in pair):
        data = text.encode()
        parts += [_number(len(data)), data]
    return b"".join(parts)


def write_token_file(file: Path, secrets: Mapping[str, str]) -> None:
    """Write a file that only the service's user can read; raises `OSError`."""
    write_whole(file, token_file(secrets), mode=0o600)


def _number(value: int) -> bytes:
    """Return a count in Hadoop's encoding: one byte up to 127, or else the number of bytes and those bytes."""
    if value <= _ONE_BYTE:
        return bytes([value])
    length = (value.bit_length() + 7) // 8
    return bytes([_LENGTH_FOLLOWS - length]) + value.to_bytes(length, "big")
