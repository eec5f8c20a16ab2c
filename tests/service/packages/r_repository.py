"""A repository of packages of R in a folder, laid out as CRAN: the newest versions, and an archive of older ones."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

_AUTHOR = "Author: tests\nMaintainer: tests <tests@localhost>\n"
_TWICE = """#include <R_ext/Rdynload.h>
#include <Rinternals.h>

SEXP twice(SEXP x) { return ScalarReal(2 * asReal(x)); }

static const R_CallMethodDef methods[] = {{"twice", (DL_FUNC) &twice, 1}, {NULL, NULL, 0}};

void R_init_svcnative(DllInfo *info) { R_registerRoutines(info, NULL, methods, NULL, NULL); }
"""


class RRepository:
    """Packages that tests write. `profile` is what makes R use them, as its R_PROFILE_USER."""

    def __init__(self, folder: Path) -> None:
        self.profile = folder / "profile.R"
        self._packages = folder / "src" / "contrib"
        self._packages.mkdir(parents=True)
        self._index: dict[str, str] = {}
        self._write_index()
        self.profile.write_text(f'options(repos = c(CRAN = "file://{folder}"))\n')

    def add(
        self,
        name: str,
        version: str = "1.0",
        *,
        code: str = "NULL\n",
        files: Mapping[str, str] | None = None,
        archived: bool = False,
        **fields: str,
    ) -> Path:
        """Add a version of a package with this code; `fields` are more of its DESCRIPTION. Return its file."""
        about = f"Package: {name}\nVersion: {version}\n"
        about += "".join(f"{field}: {value}\n" for field, value in fields.items())
        described = f"{about}Title: A Test\nDescription: For tests.\nLicense: BSD_3_clause\n{_AUTHOR}"
        imports = "".join(f"import({each.split()[0]})\n" for each in fields.get("Imports", "").split(",") if each)
        native = (
            f"useDynLib({name}, .registration = TRUE)\n" if any(file.startswith("src/") for file in files or ()) else ""
        )
        content = {
            "DESCRIPTION": described,
            "NAMESPACE": f'{imports}{native}exportPattern("^[a-z]")\n',
            "R/code.R": code,
            **(files or {}),
        }
        folder = self._packages / "Archive" / name if archived else self._packages
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{name}_{version}.tar.gz"
        with (
            gzip.GzipFile(target, "wb", mtime=0) as packed,  # so that what is the same has the same digest
            tarfile.open(fileobj=packed, mode="w|") as archive,
        ):
            for path, text in content.items():
                member = tarfile.TarInfo(f"{name}/{path}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        if not archived:
            self._index[name] = about
            self._write_index()
        return target

    def _write_index(self) -> None:
        (self._packages / "PACKAGES").write_text("\n".join(self._index.values()))


def svc_packages(folder: Path) -> RRepository:
    """Return a repository with packages that need each other, one of them in two versions, one with code in C.

    svcTop.level 2.0 needs svc.Middle 1.2-3, and that svcbase 1.1; svc.Middle 1.0 in the archive is content with 1.0.
    """
    repository = RRepository(folder)
    repository.add("svcbase", "1.0", code='greeting <- function() "base 1.0"\n', archived=True)
    repository.add("svcbase", "1.1", code='greeting <- function() "base 1.1"\n')
    middle = 'middle <- function() paste("middle over", greeting())\n'
    repository.add("svc.Middle", "1.0", code=middle, archived=True, Imports="svcbase (>= 1.0)")
    repository.add("svc.Middle", "1.2-3", code=middle, Imports="svcbase (>= 1.1)", Depends="R (>= 3.5), methods")
    repository.add("svcTop.level", "2.0", code="top <- function() toupper(middle())\n", Imports="svc.Middle")
    repository.add("svcnative", code="double_it <- function(x) .Call(twice, x)\n", files={"src/twice.c": _TWICE})
    return repository


def waiting_for(file: Path, begun: Path) -> str:
    """Return what to run in an installation that waits until a file is there; `begun` gets its process's number."""
    return f"""local({{
  writeLines(as.character(Sys.getpid()), "{begun}")
  while (!file.exists("{file}")) Sys.sleep(0.02)
}})
"""
