"""Why an engine cannot be had. One tree; every text says what happened, to which object, and what to do.

EngineFailure
├── InvalidLock          a lock file of the package cannot be read: a mistake in the package
├── RepositoryFailed     the repository does not answer, or stops in the middle; a later try may succeed
├── RepositoryRefused    the repository answers, but not with the file: it lacks it, or asks for a login
├── WrongChecksum        what the repository sends is not what the lock names
├── FolderUnusable       the engines' folder cannot be written
├── DiskFull             there is no room for it
├── JavaUnusable         no Java of a right version was found, and none could be installed
├── PackagesFailed       Python packages could not be installed
├── CompilationFailed    Java source of ours did not compile
├── ArchiveFailed        a class archive could not be made; the engine works without, starting more slowly
└── InUse                processes run from an installation that is to be removed
"""

from __future__ import annotations

from typing import ClassVar


class EngineFailure(Exception):
    """An engine cannot be had; `may_retry` says whether the same try may succeed later without anybody's doing."""

    may_retry: ClassVar[bool] = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidLock(EngineFailure):
    """A lock file does not have its form, or is not in the package."""


class RepositoryFailed(EngineFailure):
    """The repository does not answer, answers with an error of its own, or stops in the middle of a file."""

    may_retry = True


class RepositoryRefused(EngineFailure):
    """The repository lacks the file, or asks for a login."""


class WrongChecksum(EngineFailure):
    """The repository sends other bytes than the lock names, twice."""


class FolderUnusable(EngineFailure):
    """The engines' folder cannot be made or written."""


class DiskFull(EngineFailure):
    """There is not enough room in the engines' folder."""


class JavaUnusable(EngineFailure):
    """There is no Java of a right version, and none could be installed."""


class PackagesFailed(EngineFailure):
    """Python packages could not be installed."""

    may_retry = True


class CompilationFailed(EngineFailure):
    """Java source of ours did not compile."""


class ArchiveFailed(EngineFailure):
    """A class archive could not be made."""


class InUse(EngineFailure):
    """Processes run from an installation that is to be removed."""
