"""Reports what still keeps a leaving node, whenever it changes."""

from __future__ import annotations

from svc_jupyter.service.clusters.cluster_engine import Say
from svc_jupyter.service.clusters.instances import Node
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.yarn_rest import Holding, YarnRest

_TOLD_APPLICATIONS = 3


class Leaving:
    """Follows one node; `say` receives a line whenever what the node holds has changed."""

    def __init__(self, yarn: YarnRest, addresses: Addresses, node: Node, say: Say) -> None:
        self._yarn = yarn
        self._addresses = addresses
        self._node = node
        self._say = say
        self._told: str | None = None
        self._names: dict[str, str] = {}

    async def look(self) -> bool:
        """Report what the node still holds, unless already reported; return whether it certainly holds nothing."""
        try:
            holding = await self._yarn.holding(self._addresses.node_manager_http(self._node))
        except DaemonSilent as silence:
            self.tell(f"decommissioning; what it holds is not known: {silence.message}")
            return False
        names = {application: await self._name(application) for application in holding.containers}
        self.tell(what_is_left(holding, names))
        return not holding.containers

    def tell(self, text: str) -> None:
        """Report the state, unless it is unchanged."""
        if text != self._told:
            self._told = text
            self._say(f"{self._node.private_dns}: {text}")

    async def _name(self, application: str) -> str:
        if application not in self._names:
            try:
                found = await self._yarn.application(self._addresses.resource_manager_http, application)
            except DaemonSilent:
                return application  # asked again at the next check
            self._names[application] = str(found)
        return self._names[application]


def what_is_left(holding: Holding, names: dict[str, str]) -> str:
    """Return a description of what a leaving node still holds; `names` maps applications to names for users."""
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
