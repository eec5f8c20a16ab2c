"""`node_bootstrap_file`: a script from the account's storage, run once on every new node."""

from __future__ import annotations

import asyncio
from pathlib import Path

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import LOGS, Instance, Node
from svc_jupyter.service.clusters.providers.provider import Machine
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.processes.output import last_lines
from svc_jupyter.service.storage.storage import Storage

_SCRIPT = "bootstrap.sh"
_SCRIPT_BYTES = 2**20
_SHOWN_CHARACTERS = 300
_SHOWN_LINES = 5
# A service that was killed repeats the step: a script that has succeeded on a node must not run again.
_ONCE = 'cd -- "$1" || exit; [ -e bootstrap.done ] && exit 0; bash ./bootstrap.sh || exit; : > bootstrap.done'


class Bootstrap:
    """Runs the script of a cluster's configuration on its nodes."""

    def __init__(self, settings: Settings, storage: Storage) -> None:
        self._seconds = settings.node_bootstrap_seconds
        self._storage = storage

    async def __call__(self, instance: Instance, machine: Machine, node: Node, say: Say) -> None:
        """Run the script once on a node, in the node's folder; do nothing without a script.

        Raises `ClusterFailure` with the script's last lines when it fails or takes too long, and `ProviderFailure`.
        """
        location = instance.configuration.node_bootstrap_file
        if not location:
            return
        say(f"{node.private_dns}: running {location}")
        log = bootstrap_log(instance, node)
        log.parent.mkdir(parents=True, exist_ok=True)
        await machine.write({_SCRIPT: await self._script(instance.account_id, location)})
        argv = ["bash", "-c", _ONCE, "bash", str(machine.folder)]
        try:
            async with asyncio.timeout(self._seconds):
                code = await machine.run(argv, environment=_environment(instance, node), log=log)
        except TimeoutError:
            raise _failed(node, location, f"took longer than {self._seconds:g} s", log) from None
        if code:
            raise _failed(node, location, f"ended with exit code {code}", log)

    async def _script(self, account_id: int, location: str) -> bytes:
        try:
            return (await self._storage.read_text(account_id, location, _SCRIPT_BYTES)).encode()
        except Invalid as error:
            raise ClusterFailure(f"node_bootstrap_file cannot be read: {error}") from error


def bootstrap_log(instance: Instance, node: Node) -> Path:
    """Return the file in which the service keeps the script's output on a node."""
    return instance.folder / LOGS / f"bootstrap-{node.private_dns}.log"


def _environment(instance: Instance, node: Node) -> dict[str, str]:
    return {
        "SVC_CLUSTER_ID": str(instance.cluster_id),
        "SVC_CLUSTER_LABEL": next(iter(instance.configuration.label), ""),
        "SVC_NODE_ROLE": node.role.value,
        "SVC_NODE_PRIVATE_IP": node.private_ip,
        "SVC_NODE_PRIVATE_DNS": node.private_dns,
    }


def _failed(node: Node, location: str, how: str, log: Path) -> ClusterFailure:
    lines = "\n".join(line[:_SHOWN_CHARACTERS] for line in last_lines(log)[-_SHOWN_LINES:])
    said = f": {lines}" if lines else "; it wrote nothing"
    return ClusterFailure(f"{location} on {node.private_dns} {how} ({log}){said}")
