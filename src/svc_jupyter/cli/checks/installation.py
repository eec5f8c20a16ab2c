"""Check the installation: Python, the extras of the package, the JavaScript engine for macros."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from svc_jupyter.cli.checks.finding import Finding, fine, note, wrong

DISTRIBUTION = "svc-jupyter"
EXTRAS = {
    "service": "the service itself, embedded on this machine or for a team",
    "demo": "JupyterLab, plots and the public data of `svc-jupyter init --demo`",
}
_SCRIPTS = ("moment.min.js", "moment-timezone-with-data.min.js")
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*;.*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")


def check_installation(*, remote: bool) -> Iterator[Finding]:
    """Yield what is installed; with a remote service the service's extra is optional."""
    yield fine("Python", f"{platform.python_version()} ({sys.executable})")
    yield fine(DISTRIBUTION, version(DISTRIBUTION))
    for extra, gives in EXTRAS.items():
        missing = missing_packages(extra)
        needed = extra == "service" and not remote
        if not missing:
            yield fine(f"extra {extra}", f"installed: {gives}")
        else:
            finding = wrong if needed else note
            lacks = f"not installed, {', '.join(missing)} missing: {gives}"
            yield finding(f"extra {extra}", lacks, f"pip install '{DISTRIBUTION}[{extra}]'")
    if not missing_packages("service"):
        yield _macros()


def missing_packages(extra: str) -> list[str]:
    """Return the packages required by an extra of this distribution that are not installed."""
    return [name for name in packages_of(extra, requires(DISTRIBUTION) or []) if not _is_installed(name)]


def packages_of(extra: str, requirements: list[str]) -> list[str]:
    """Return the package names that an extra requires, from a distribution's requirements."""
    found = [match for match in map(_REQUIREMENT.match, requirements) if match]
    return [match["name"] for match in found if match["extra"] == extra and match["name"] != DISTRIBUTION]


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _macros() -> Finding:
    spec = find_spec("svc_jupyter.service.macros")
    folder = Path((spec.submodule_search_locations or [""])[0] if spec else "") / "javascript"
    missing = [name for name in _SCRIPTS if not (folder / name).is_file()]
    if missing:
        fix = "pip install . in the source folder builds them in (it needs npm, or fetches it)"
        return note("macros", f"{', '.join(missing)} missing: commands with macros are refused", fix)
    return fine("macros", "the JavaScript date library is there")
