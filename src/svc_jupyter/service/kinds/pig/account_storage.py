"""The account's storage as a script sees it: the base of its relative locations, and the client that opens them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.runtimes.s3.access import s3_access
from svc_jupyter.service.runtimes.s3.account_store import s3_jars
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.locations import Scheme

JARS: Final = "pig.additional.jars"
"""Pig's setting of jars for itself and its tasks."""
_READABLE: Final = (Scheme.FILE, Scheme.S3)


@dataclass(frozen=True, slots=True)
class ScriptStorage:
    """`folder` is a URI with a trailing slash; `properties` and `secrets` go to the script's Java."""

    folder: str
    properties: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def with_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return a script's settings merged with the storage's; the cluster's own settings take precedence."""
        jars = [each[JARS] for each in (settings, self.properties) if JARS in each]
        return {**self.properties, **settings, **({JARS: ",".join(jars)} if jars else {})}


async def script_storage(account: AccountStorage, engines: Engines, say: Say) -> ScriptStorage:
    """Return the script's view of the storage; installs the jars of an S3 client when they are missing.

    Raises `Invalid` for a storage that Pig cannot read, and `EngineFailure`.
    """
    if account.base.scheme not in _READABLE:
        raise Invalid(
            f"Pig reads and writes the account's storage where that is a folder (file://…) or an S3 store (s3://…), "
            f"and it is {account.base}: run the script in an account whose storage is one of these"
        )
    access, folder = s3_access(account), f"{str(account.base).rstrip('/')}/"
    if not access.is_needed:
        return ScriptStorage(folder)
    jars = await s3_jars(engines, say)
    return ScriptStorage(folder, {**access.settings, JARS: ",".join(map(str, jars))}, access.secrets)
