"""Packages of our own in a folder, for what the package index does not offer: builds that fail, or wait."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path


def source_package(folder: Path, name: str, setup: str) -> None:
    """Put version 1.0 of a package into a folder; `setup` is run when it is built."""
    folder.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    files = {"setup.py": f"{setup}\nfrom setuptools import setup\nsetup(name={name!r}, version='1.0')\n"}
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for path, text in {**files, "PKG-INFO": metadata}.items():
            member = tarfile.TarInfo(f"{name}-1.0/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def waiting_for(file: Path, begun: Path) -> str:
    """Return what to run in a build that waits until a file is there; `begun` gets the number of its process."""
    return f"""import os, time
with open({str(begun)!r}, "w") as told:
    told.write(str(os.getpid()))
while not os.path.exists({str(file)!r}):
    time.sleep(0.02)
"""
