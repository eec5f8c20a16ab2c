"""Where the project lives, as the package index shows it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ADDRESS = "https://forge.example/team/svc-jupyter"
TARGET = re.compile(r"\]\(([^)]+)\)")


def metadata(**variables: str) -> dict[str, Any]:
    """Return the metadata that a build of these sources has."""
    environment = {name: value for name, value in os.environ.items() if name != "PROJECT_URL"} | variables
    command = [sys.executable, "-m", "hatchling", "metadata"]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return dict(json.loads(run.stdout))


def test_a_release_has_its_addresses_and_absolute_links():
    found = metadata(PROJECT_URL=f"{ADDRESS}/")
    assert found["urls"]["Repository"] == ADDRESS
    assert found["urls"]["Changelog"] == f"{ADDRESS}/blob/HEAD/CHANGELOG.md"
    readme = found["readme"]["text"]
    targets = TARGET.findall(readme)
    assert targets
    assert [target for target in targets if not target.startswith(("https://", "http://", "#"))] == []
    for target in targets:
        if target.startswith(ADDRESS):
            kind, _, file = target.removeprefix(f"{ADDRESS}/").partition("/HEAD/")
            there = ROOT / file.partition("#")[0]
            assert there.exists(), target
            assert kind == ("tree" if there.is_dir() else "raw" if file.endswith(".png") else "blob"), target


def test_a_build_without_an_address_invents_none():
    found = metadata()
    assert found.get("urls", {}) == {}
    assert found["readme"]["text"] == (ROOT / "README.md").read_text()
