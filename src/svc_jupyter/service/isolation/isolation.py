"""Whether users' programs run in sandboxes, and the sandbox of one command."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, Self

import structlog

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.isolation import bubblewrap
from svc_jupyter.service.isolation.bubblewrap import Bubblewrap, Fault
from svc_jupyter.service.isolation.view import View

_PACKAGES: Final = Path(__file__).parents[3]
"""The folder with this package: not the environment's own where it is installed to be edited."""
TEMPORARY: Final = "tmp"
"""The folder in an attempt's folder that the command sees as /tmp."""
_HOMES: Final = "homes"
_INHERITED: Final = frozenset(
    {
        *("LANG", "LANGUAGE", "LOGNAME", "PATH", "TZ", "USER"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"),
    }
)
"""Variables that an isolated command has from the service, besides the locale's `LC_…` and `isolation_variables`."""
ISOLATED: Final = "shell commands and notebook runs"
"""The programs that run in sandboxes so far; docs/security.md has the table."""
log = structlog.get_logger(__name__)


class IsolationError(RuntimeError):
    """`SVC_ISOLATION=on`, but no sandbox can be made."""


@dataclass(frozen=True)
class Sandbox:
    """The sandbox of one attempt."""

    bubblewrap: Bubblewrap
    mounts: Sequence[str]
    variables: Mapping[str, str]
    """What the sandbox changes in the environment of its programs."""

    def argv(self, program: Sequence[str]) -> list[str]:
        """Return the command line that runs a program in it; see `Bubblewrap.argv`."""
        return self.bubblewrap.argv(self.mounts, program)

    def child_argv(self, program: Sequence[str]) -> list[str]:
        """Return the command line for a child that must not outlive its parent; see `Bubblewrap.child_argv`."""
        return self.bubblewrap.child_argv(self.mounts, program)


@dataclass(frozen=True)
class Isolation:
    """The decision of the settings, with its reason; `bubblewrap` is None where programs are not isolated."""

    settings: Settings
    bubblewrap: Bubblewrap | None
    reason: str
    advice: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Decide. Raises `IsolationError` where isolation is required and impossible."""
        if settings.isolation == "off":
            return cls(settings, None, "SVC_ISOLATION=off")
        if settings.isolation == "auto" and settings.embedded:
            return cls(settings, None, "this service is for one person; SVC_ISOLATION=on isolates its commands, too")
        found = bubblewrap.found()
        if isinstance(found, Fault):
            if settings.isolation == "on":
                raise IsolationError(f"SVC_ISOLATION=on: {found}")
            return cls(settings, None, found.reason, found.advice)
        return cls(settings, found, f"by {found.path}")

    @property
    def is_on(self) -> bool:
        """Whether users' programs are isolated."""
        return self.bubblewrap is not None

    @property
    def state(self) -> Literal["on", "off"]:
        """Whether users' programs are isolated, as answers say it."""
        return "on" if self.is_on else "off"

    def say(self) -> None:
        """Log the decision."""
        if self.is_on:
            log.info("isolation_on", reason=self.reason, programs=ISOLATED)
        elif self.advice:
            log.warning("isolation_off", reason=self.reason, meaning=_MEANING, advice=self.advice)
        else:
            log.info("isolation_off", reason=self.reason)

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that isolated programs inherit."""
        names = _INHERITED | set(self.settings.isolation_variables)
        return {name: value for name, value in inherited.items() if name in names or name.startswith("LC_")}

    def sandbox(
        self,
        attempt: Path,
        working: Path,
        user_id: int,
        *,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
    ) -> Sandbox:
        """Return the sandbox of an attempt; its folders are made.

        Programs in it see, besides the system, the working folder, the user's home, `readable` and `writable`, which
        must not be in a folder that they may change.
        """
        assert self.bubblewrap is not None
        temporary, home = attempt / TEMPORARY, self.settings.data_dir.absolute() / _HOMES / str(user_id)
        temporary.mkdir(mode=0o700, exist_ok=True)
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        mounts = self._view.mounts(temporary=temporary, working=working, writable=[home, *writable], readable=readable)
        return Sandbox(self.bubblewrap, mounts, {"HOME": str(home), "TMPDIR": "/tmp"})  # noqa: S108  the sandbox's own

    @cached_property
    def _view(self) -> View:
        settings = self.settings
        return View(
            data_dir=settings.data_dir,
            storage=settings.storage_dir,
            writable=settings.file_roots,
            readable=settings.isolation_readable,
            programs=[
                *(Path(sys.prefix), Path(sys.base_prefix), _PACKAGES),
                settings.engines_dir,
            ],
        )


_MEANING: Final = (
    "a user who may submit a command can read and change what the service's user can, also the data folder"
)


async def remove_temporary(attempt: Path) -> None:
    """Remove what an ended command left in its /tmp; what cannot be removed goes with the command's folder."""
    temporary = attempt / TEMPORARY
    try:
        temporary.rmdir()
    except OSError:  # not empty
        await asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True)
