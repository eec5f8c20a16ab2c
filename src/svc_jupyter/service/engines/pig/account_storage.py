"""The account's storage as a script sees it: where its relative locations lie, and what opens them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.progress import Say
from svc_jupyter.service.engines.s3.access import s3_access
from svc_jupyter.service.engines.s3.jars import s3_jars
from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.locations import Scheme

JARS: Final = "pig.additional.jars"
"""Pig's setting of jars for itself and its tasks."""
_READABLE: Final = (Scheme.FILE, Scheme.S3)


@dataclass(frozen=True, slots=True)
class ScriptStorage:
    """`folder` is a URI ended by a slash; `properties` and `secrets` are to be given to the script's Java."""

    folder: str
    properties: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def with_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return a script's settings with those of the storage; those of a cluster's own lines stay as they are."""
        jars = [each[JARS] for each in (settings, self.properties) if JARS in each]
        return {**self.properties, **settings, **({JARS: ",".join(jars)} if jars else {})}


async def script_storage(account: AccountStorage, engines: Engines, say: Say) -> ScriptStorage:
    """Return it; the jars of an S3 store's client are installed when they are missing.

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
