"""What a Spark cluster's configuration must not say."""

from __future__ import annotations

import math

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.engines.hadoop.check import check as check_hadoop
from svc_jupyter.service.engines.spark.program import IDLE_SETTING, forbidden
from svc_jupyter.service.errors import Invalid

_WHERE = "hadoop_settings.custom_config"


def check(configuration: ClusterConfiguration) -> None:
    """Raise `Invalid` for settings that would break the cluster's own wiring, and for those of other engines."""
    custom = configuration.custom_settings
    master = custom.get("spark.master", "yarn")
    if master != "yarn" and not (master == "local" or (master.startswith("local[") and master.endswith("]"))):
        raise Invalid(f"{_WHERE}: spark.master={master[:40]} is not there: it is yarn, local or local[…]")
    try:
        is_time = 0 < float(custom.get(IDLE_SETTING, "1")) < math.inf
    except ValueError:
        is_time = False
    if not is_time:
        raise Invalid(f"{_WHERE}: {IDLE_SETTING} is a number of minutes above 0")
    if configuration.hive_settings.is_hs2_enabled:
        raise Invalid("hive_settings.is_hs2_enabled: HiveServer2 is a part of Hadoop clusters, not of Spark clusters")
    check_hadoop(configuration, forbidden)
