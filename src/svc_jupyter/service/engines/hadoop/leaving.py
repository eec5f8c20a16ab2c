"""What a node that is to go is waited for, told as it changes."""

from __future__ import annotations

from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.instances import Node
from svc_jupyter.service.engines.hadoop.addresses import Addresses
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.hadoop.yarn_rest import Holding, YarnRest

_TOLD_APPLICATIONS = 3


class Leaving:
    """Follows one node; `say` hears a line whenever what is left there has changed."""

    def __init__(self, yarn: YarnRest, addresses: Addresses, node: Node, say: Say) -> None:
        self._yarn = yarn
        self._addresses = addresses
        self._node = node
        self._say = say
        self._told: str | None = None
        self._names: dict[str, str] = {}

    async def look(self) -> bool:
        """Tell what the node still holds, unless that was told already; return whether it surely holds nothing."""
        try:
            holding = await self._yarn.holding(self._addresses.node_manager_http(self._node))
        except DaemonSilent as silence:
            self.tell(f"decommissioning; what it holds is not known: {silence.message}")
            return False
        names = {application: await self._name(application) for application in holding.containers}
        self.tell(what_is_left(holding, names))
        return not holding.containers

    def tell(self, text: str) -> None:
        """Tell how things stand, unless they stood so before."""
        if text != self._told:
            self._told = text
            self._say(f"{self._node.private_dns}: {text}")

    async def _name(self, application: str) -> str:
        if application not in self._names:
            try:
                found = await self._yarn.application(self._addresses.resource_manager_http, application)
            except DaemonSilent:
                return application  # asked again at the next look
            self._names[application] = str(found)
        return self._names[application]


def what_is_left(holding: Holding, names: dict[str, str]) -> str:
    """Return in words what a leaving node still holds; `names` has the applications as users know them."""
    if holding.running:
        count = f"{holding.running} {'container' if holding.running == 1 else 'containers'}"
        running = [names[application] for application, containers in holding.containers.items() if containers]
        return f"decommissioning, {count} left: {_listed(running)}"
    if holding.containers:
        waiting = [names[application] for application in holding.containers]
        return f"decommissioning, no container left; its outputs are needed by {_listed(waiting)}"
    return "decommissioning, nothing left"


def _listed(names: list[str]) -> str:
    more = len(names) - _TOLD_APPLICATIONS
    return ", ".join(names[:_TOLD_APPLICATIONS]) + (f" and {more} more" if more > 0 else "")
