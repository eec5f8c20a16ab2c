"""What is the same for all clusters that others run: the service connects to them, uses them, and lets go of them."""

from __future__ import annotations

import json
import re
import socket
from typing import Literal

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, ClusterFailure, Say
from svc_jupyter.service.clusters.cluster_rows import EXTERNAL_PASSWORD
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.ground.addresses import look_up
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.tls import tls_context


class ExternalEngine(ClusterEngine):
    """Connects to clusters of one type that others run; see `ClusterEngine`. `start` checks the connection."""

    def __init__(self, instances: Instances, secrets: SecretBox) -> None:
        self._instances = instances
        self._secrets = secrets
        self.of_others = self

    async def supervise(self, instance: Instance) -> None:
        """Do nothing: those who run the cluster restart its daemons; its health shows whether it answers."""

    async def terminate(self, instance: Instance, say: Say) -> None:
        """Let go of the cluster, which continues to run."""
        say(f"letting go of {instance.configuration.external.url}")

    async def is_busy(self, instance: Instance) -> bool:  # noqa: ARG002
        """Return False: the work of others does not keep the service connected."""
        return False

    def password(self, instance: Instance) -> str:
        """Return the password of the login, empty where there is none. Raises `ClusterFailure` when it is lost."""
        if instance.sealed_secrets is None:
            return ""
        try:
            return str(json.loads(self._secrets.open(instance.sealed_secrets)).get(EXTERNAL_PASSWORD, ""))
        except ValueError as error:
            raise ClusterFailure(str(error)) from None

    async def check_not_own(self, host: str, port: int, own_port: int) -> None:
        """Raise `ClusterFailure` for a name that cannot be resolved and for a cluster of this service.

        `own_port` is where the same engine listens on the service's own clusters.
        """
        try:
            addresses = await look_up(host, port)
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, socket.gaierror) else str(error)
            raise ClusterFailure(f"the name {host} cannot be resolved: {reason}") from None
        own = await self._instances.clusters_by_address() if port == own_port else {}
        for address in addresses:
            if address in own:
                raise ClusterFailure(
                    f"{host}:{port} is cluster {own[address]} of this service; give that cluster's label to the "
                    "commands that are to run there"
                )


def check_settings(
    configuration: ClusterConfiguration,
    names: re.Pattern[str],
    owner: Literal["hadoop_settings", "presto_settings"],
    *,
    takes_source: bool = False,
) -> None:
    """Raise `Invalid` for what is wrong on an external cluster of any type.

    `names` matches the names of its sessions' properties; `owner` has the settings of such a cluster that the service
    starts itself.
    """
    external = configuration.external
    if external.tls_ca:
        _check_authorities(external.tls_ca)
    if external.source and not takes_source:
        raise Invalid("external.source: is for Presto and Trino")
    for name in external.session_properties:
        if not names.fullmatch(name):
            raise Invalid(f"external.session_properties: {name[:100]!r} is not the name of a property")
    if getattr(configuration, owner).custom_config:
        raise Invalid(
            f"{owner}.custom_config: is for clusters that the service starts; use external.session_properties"
        )


def _check_authorities(text: str) -> None:
    """Raise `Invalid` unless a text is the certificates of authorities."""
    try:
        context = tls_context(text)
    except (OSError, ValueError):
        raise Invalid("external.tls_ca: must be one or more certificates in PEM") from None
    if not context.get_ca_certs():
        raise Invalid("external.tls_ca: has no certificate of an authority")
