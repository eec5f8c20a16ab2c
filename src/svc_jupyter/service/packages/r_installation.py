"""The R of this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from svc_jupyter.service.ground.errors import Invalid

_VERSION = re.compile(r"version (\d+(?:\.\d+)*)")
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RInstallation:
    """`Rscript` and the version of its R."""

    rscript: Path
    version: str

    def is_of(self, version: str) -> bool:
        """Return whether it is an R of a version, which may be a prefix: `4`, `4.2`."""
        return f"{self.version}.".startswith(f"{version}.")

    def runs_packages_of(self, version: str) -> bool:
        """Return whether packages installed by that R version work with it: patch releases are compatible."""
        return self.version.split(".")[:2] == version.split(".")[:2]


def find_r(path: str | None = None) -> RInstallation | None:
    """Return the R whose `Rscript` is on the path, by default the service's; None where there is none. Blocks."""
    rscript = shutil.which("Rscript", path=path)
    if rscript is None:
        return None
    ended = subprocess.run(
        [rscript, "--version"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    match = _VERSION.search(ended.stdout)
    return None if match is None else RInstallation(Path(rscript), match[1])


def installed_version(wanted: str | None) -> str:
    """Return the version of the installed R. Raises `Invalid` if it is not the wanted one."""
    r = find_r()
    if r is None:
        raise Invalid("env_type: R is not on this machine (there is no Rscript on the path): install R")
    if wanted is not None and not r.is_of(wanted):
        raise Invalid(f"r_version: R {wanted} is not on this machine, R {r.version} is")
    return r.version
