"""The account feature that package environments depend on."""

from __future__ import annotations

from svc_jupyter.api.account import Features
from svc_jupyter.service.ground.errors import Forbidden


def require_package_management(features: Features) -> None:
    """Raise `Forbidden`, with how an administrator enables it, while the account's package management is off."""
    if not features.package_management:
        raise Forbidden(
            "Package management is switched off for this account; a member of system-admin switches it on by "
            'PUT account/features with {"package_management": true}'
        )
