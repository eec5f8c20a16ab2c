"""The account feature that Jupyter notebooks depend on."""

from __future__ import annotations

from svc_jupyter.api.account import Features
from svc_jupyter.service.errors import Forbidden


def require_jupyter_notebooks(features: Features) -> None:
    """Raise `Forbidden`, saying how an administrator turns it on, while the account's Jupyter notebooks are off."""
    if not features.jupyter_notebooks:
        raise Forbidden(
            "Jupyter notebooks are switched off for this account; a member of system-admin switches them on by "
            'PUT account/features with {"jupyter_notebooks": true}'
        )
