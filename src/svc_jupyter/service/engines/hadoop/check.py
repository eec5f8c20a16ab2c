"""What a Hadoop cluster's configuration must not say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.engines.hadoop.configuration import forbidden
from svc_jupyter.service.engines.hadoop.site_files import parse_pools
from svc_jupyter.service.engines.hive_server.program import forbidden as forbidden_of_hive
from svc_jupyter.service.errors import Invalid


def check(
    configuration: ClusterConfiguration,
    forbidden_beside: Callable[[Mapping[str, str]], Sequence[str]] = forbidden_of_hive,
) -> None:
    """Raise `Invalid` for settings that would break the cluster's own wiring, and for pools that are no XML of it.

    `forbidden_beside` names those of what runs beside Hadoop's own daemons.
    """
    broken = [*forbidden(configuration.custom_settings), *forbidden_beside(configuration.custom_settings)]
    if broken:
        raise Invalid(
            f"hadoop_settings.custom_config: {broken[0]} is set by the service, which wires the cluster's daemons "
            "with it: leave it out"
        )
    pools = configuration.hadoop_settings.fairscheduler_settings.fairscheduler_config_xml
    if pools:
        try:
            parse_pools(pools)
        except ValueError as error:
            raise Invalid(f"hadoop_settings.fairscheduler_settings.fairscheduler_config_xml {error}") from error
