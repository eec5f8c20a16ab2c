"""A service of the tests' own with the public data loaded, as the quick start has it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_jupyter.service.ground.settings import default_engines_dir


@pytest.fixture(scope="session")
def demo_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a user who has run `svc-jupyter init --demo` in an empty home."""
    folder = tmp_path_factory.mktemp("notebooks")
    (folder / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "XDG_", "JUPYTER"))}
    environment = kept | {"HOME": str(folder / "home"), "SVC_DATA_DIR": str(folder / "data")}
    environment["SVC_ENGINES_DIR"] = str(default_engines_dir())  # installed once for all tests, not into this home
    svc_jupyter = [sys.executable, "-m", "svc_jupyter"]
    try:
        subprocess.run([*svc_jupyter, "init", "--demo"], env=environment, check=True, cwd=Path.home())
        yield environment
    finally:
        subprocess.run([*svc_jupyter, "stop"], env=environment, check=True)
