"""What a provider needs from the settings and the installation of the service."""

from __future__ import annotations

from importlib.util import find_spec

from svc_jupyter.service.ground.settings import Settings


def missing(provider: str | None, settings: Settings) -> str | None:
    """Return what a provider lacks on this service, with what to do about it; None when it can work, or is none."""
    if provider != "hosts":
        return None
    if find_spec("asyncssh") is None:
        return "it reaches its hosts by SSH, for which asyncssh is not installed: pip install 'svc-jupyter[hosts]'"
    if settings.hosts_inventory is None:
        return "it takes its machines from an inventory: set SVC_HOSTS_INVENTORY to the file that lists them"
    return None
