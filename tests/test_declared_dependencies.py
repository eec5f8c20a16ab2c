"""What the package imports, it declares: nothing works only because something else happens to bring it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "svc_jupyter"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OF_ENGINES = {"pyspark", "py4j", "grpc", "IRkernel"}
"""Imported by programs that run with an engine's own Python."""
OF_DEVELOPERS = {"service/installs/relock.py": {"jgo"}}
"""Tools of the repository that are in the package, and what the extra `test` brings for them."""
BROUGHT_TOGETHER = {"pydantic_core"}
"""Pinned exactly by the package whose half they are."""


owners = cache(packages_distributions)


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


BASE = names(PROJECT["dependencies"])
EXTRAS = {extra: names(wanted) for extra, wanted in PROJECT["optional-dependencies"].items()}


def imports_of(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def foreign_imports(folder: str) -> dict[str, set[str]]:
    """Return the modules imported in a folder of the package that are neither Python's nor ours, with their files."""
    found: dict[str, set[str]] = {}
    for file in (PACKAGE / folder).rglob("*.py"):
        place = file.relative_to(PACKAGE).as_posix()
        for name in set(imports_of(file)) - OF_DEVELOPERS.get(place, set()):
            if name not in sys.stdlib_module_names and name not in OF_ENGINES | BROUGHT_TOGETHER | {"svc_jupyter"}:
                found.setdefault(name, set()).add(place)
    return found


DECLARED = {
    "api": BASE,
    "client": BASE,
    "magics": BASE | EXTRAS["plot"],
    "widgets": BASE,
    "server": BASE | EXTRAS["compare"],
    "service": BASE | EXTRAS["service"] | EXTRAS["hosts"],
    "cli": BASE | EXTRAS["service"] | EXTRAS["demo"],
}


def test_every_imported_package_is_declared():
    imported = {folder: foreign_imports(folder) for folder in DECLARED}
    assert all(imported.values())
    undeclared = {
        (folder, module): sorted(files)
        for folder, modules in imported.items()
        for module, files in modules.items()
        if not {canonicalize_name(owner) for owner in owners().get(module, [])} & DECLARED[folder]
    }
    assert undeclared == {}


def test_a_major_version_of_httpx_that_lacks_what_the_client_uses_is_not_taken():
    (httpx,) = (Requirement(wanted) for wanted in PROJECT["dependencies"] if wanted.startswith("httpx>"))
    assert not httpx.specifier.contains("1.0.dev1", prereleases=True)


def test_the_license_names_those_of_the_bundled_javascript():
    bundled = (ROOT / "labextension" / "build" / "static" / "third-party-licenses.json").read_text()
    lock = (ROOT / "javascript.lock.json").read_text()
    wanted = set(re.findall(r'"(?:licenseId|license)": "([^"]+)"', bundled + lock))
    assert {"MIT", "Apache-2.0"} <= wanted
    assert wanted <= set(PROJECT["license"].split(" AND "))


def requirements_of(extra: str) -> list[Requirement]:
    """Return what an extra requires, with the extras of this package that it names and the package's own."""
    wanted = [Requirement(one) for one in PROJECT["optional-dependencies"][extra]]
    inner = [name for one in wanted if one.name == PROJECT["name"] for name in sorted(one.extras)]
    others = [one for one in wanted if one.name != PROJECT["name"]]
    return [
        *map(Requirement, PROJECT["dependencies"]),
        *others,
        *(each for name in inner for each in requirements_of(name)),
    ]


@pytest.mark.parametrize("extra", ["demo", "test"])
def test_a_lock_has_a_version_in_the_range_of_each_requirement(extra: str):
    versions: dict[str, list[str]] = {}
    for name, version in re.findall(
        r"^([\w.-]+)==([^\s;]+)", (ROOT / "locks" / f"{extra}.txt").read_text(), re.MULTILINE
    ):
        versions.setdefault(canonicalize_name(name), []).append(version)
    wrong = [
        str(wanted)
        for wanted in requirements_of(extra)
        if not any(
            wanted.specifier.contains(version, prereleases=True)
            for version in versions.get(canonicalize_name(wanted.name), [])
        )
    ]
    assert wrong == [], "run: bash scripts/lock.sh"
