"""Python environments: virtual environments that `uv` makes from exact locks with hashes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from svc_jupyter.service.packages.installer import BUILD_SECONDS, VERIFY_SECONDS, BuildFailure, failure, too_slow
from svc_jupyter.service.packages.languages import BASE, PYTHON
from svc_jupyter.service.processes.tool import Ended, run
from svc_jupyter.service.processes.worker_parent import MARK

_LOCK_FILE = "requirements.lock"
_OURS = ("VIRTUAL_ENV", "UV_PROJECT", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")
"""Variables that point to the environment of the service itself, or of the user who started it."""
_NOISE = ("warning: Failed to inspect Python interpreter", "Using Python ")


class PythonPackages:
    """Builds virtual environments. The installer gets `inherited` from the service's environment."""

    def __init__(self, inherited: Mapping[str, str]) -> None:
        self._inherited = {name: value for name, value in inherited.items() if name not in _OURS}

    async def build(
        self, folder: Path, version: str, requested: Sequence[str], *, lock: str | None, keep: str | None
    ) -> str:
        """Build an environment (see `Installer.build`)."""
        python = sys.executable if _is_running(version) else version
        await self._uv(folder, "venv", "--python", python, str(folder))
        lock_file = folder / _LOCK_FILE
        if lock is None:
            lock_file.write_text(keep or "")  # uv keeps the versions that it finds there
            await self._compile(folder, requested, lock_file)
        else:
            lock_file.write_text(lock)
        await self._install(folder, lock_file, from_cache_first=lock is not None)
        await self._verify(folder, lock_file.read_text())
        return lock_file.read_text()

    async def _compile(self, folder: Path, requested: Sequence[str], lock_file: Path) -> None:
        wanted = folder / "requirements.in"
        wanted.write_text("\n".join([*BASE, *requested, ""]))
        where = ("--python", str(python_of(folder)))
        await self._uv(
            folder,
            *("pip", "compile", str(wanted), "--output-file", str(lock_file), "--generate-hashes"),
            *("--no-header", "--no-annotate", "--quiet", *where),
        )

    async def _install(self, folder: Path, lock_file: Path, *, from_cache_first: bool) -> None:
        """Install the lock; packages installed before are in the cache, and need no network."""
        install = ("pip", "install", "--require-hashes", "--no-deps", "--requirement", str(lock_file))
        where = ("--python", str(python_of(folder)))
        if from_cache_first:
            ended = await self._run(folder, *install, *where, "--offline")
            if ended.code == 0:
                return
        await self._uv(folder, *install, *where)

    async def _verify(self, folder: Path, lock: str) -> None:
        """Raise unless the packages match the lock, fit together, and a kernel can be loaded."""
        where = ("--python", str(python_of(folder)))
        await self._uv(folder, "pip", "check", *where)
        listed = await self._uv(folder, "pip", "freeze", *where)
        there = PYTHON.locked("\n".join(line for line in listed.output.splitlines() if "==" in line))
        if there != PYTHON.locked(lock):
            missing = sorted(set(PYTHON.pins(lock)) - {f"{name}=={version}" for name, version in there.items()})
            raise BuildFailure(f"the environment does not hold what was installed into it: {', '.join(missing)}")
        try:
            ended = await run(
                [python_of(folder), "-I", "-c", "import ipykernel"],
                seconds=VERIFY_SECONDS,
                env=self._environment(folder),
                cwd=folder,
            )
        except TimeoutError:
            raise BuildFailure(f"its Python did not load a notebook's kernel within {VERIFY_SECONDS:g} s") from None
        if ended.code != 0:
            raise BuildFailure(f"a notebook's kernel cannot be loaded in it:\n{failure(ended, _NOISE).message}")

    async def _uv(self, folder: Path, *arguments: str) -> Ended:
        ended = await self._run(folder, *arguments)
        if ended.code == 0:
            return ended
        raise failure(ended, _NOISE)

    async def _run(self, folder: Path, *arguments: str) -> Ended:
        from uv import find_uv_bin

        try:
            return await run(
                [find_uv_bin(), *arguments, "--no-progress"],
                seconds=BUILD_SECONDS,
                env=self._environment(folder),
                cwd=Path("/"),  # a project in the service's working folder must have no effect
            )
        except TimeoutError:
            raise too_slow(BUILD_SECONDS) from None

    def _environment(self, folder: Path) -> dict[str, str]:
        return {**self._inherited, MARK: str(folder)}


def python_of(folder: Path) -> Path:
    """Return the interpreter of an environment."""
    return folder / "bin" / "python"


def _is_running(version: str) -> bool:
    """Return whether the running Python is of this version."""
    here = ".".join(map(str, sys.version_info[:3]))
    return f"{here}.".startswith(f"{version}.")
