"""Unpacking plug-ins out of their zip files."""

from __future__ import annotations

import zipfile
from pathlib import Path

from svc_jupyter.service.runtimes.presto.plugins import unpack


def test_a_plug_in_gets_newer_jars_and_lacks_what_is_left_out(tmp_path: Path):
    newer = tmp_path / "asm-9.7.jar"
    newer.write_bytes(b"new")
    with zipfile.ZipFile(tmp_path / "plugin.zip", "w") as archive:
        archive.mkdir("presto-x-1")
        for name in ("asm-9.0.jar", "presto-x-1.jar", "alluxio-shaded-client-312.jar"):
            archive.writestr(f"presto-x-1/{name}", name)
    unpack(tmp_path / "plugin.zip", tmp_path / "x", {"asm": newer})
    found = {file.name: file.read_bytes() for file in (tmp_path / "x").iterdir()}
    assert found == {"asm-9.7.jar": b"new", "presto-x-1.jar": b"presto-x-1.jar"}
