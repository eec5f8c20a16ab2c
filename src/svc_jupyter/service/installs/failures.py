"""Why an engine is unavailable. One tree; every text says what happened, to which object, and what to do.

EngineFailure
├── InvalidLock          a lock file of the package cannot be read: a mistake in the package
├── RepositoryFailed     the repository does not answer, or stops in the middle; a later try may succeed
├── RepositoryRefused    the repository answers, but lacks the file or requires a login
├── WrongChecksum        the repository's file does not match the lock
├── FolderUnusable       the engines' folder cannot be written
├── DiskFull             the engines' folder has no room for it
├── JavaUnusable         no Java of a supported version was found, and none could be installed
├── PackagesFailed       Python packages could not be installed
├── CompilationFailed    the project's Java sources did not compile
├── ArchiveFailed        a class archive could not be made; the engine works without, but starts more slowly
└── InUse                processes run from an installation that is to be removed
"""

from __future__ import annotations

from svc_jupyter.service.ground.errors import Failure


class EngineFailure(Failure):
    """An engine is unavailable; `may_retry` says whether the same call may succeed later by itself."""

    may_retry = False


class InvalidLock(EngineFailure):
    """A lock file is malformed, or is not in the package."""


class RepositoryFailed(EngineFailure):
    """The repository does not answer, answers with a server error, or stops in the middle of a file."""

    may_retry = True


class RepositoryRefused(EngineFailure):
    """The repository lacks the file, or requires a login."""


class WrongChecksum(EngineFailure):
    """The repository sent other bytes than the lock names, twice."""


class FolderUnusable(EngineFailure):
    """The engines' folder cannot be created or written."""


class DiskFull(EngineFailure):
    """There is not enough room in the engines' folder."""


class JavaUnusable(EngineFailure):
    """There is no Java of a supported version, and none could be installed."""


class PackagesFailed(EngineFailure):
    """Python packages could not be installed."""

    may_retry = True


class CompilationFailed(EngineFailure):
    """The project's Java sources did not compile."""


class ArchiveFailed(EngineFailure):
    """A class archive could not be made."""


class InUse(EngineFailure):
    """Processes run from an installation that is to be removed."""
