"""The fields of a cluster's configuration that run as code, and the right to set them."""

from __future__ import annotations

from svc_jupyter.api.clusters import ClusterChanges
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.running import require_to_write_code


def require_for_code(by: Caller, given: ClusterChanges, before: ClusterChanges | None = None) -> None:
    """Raise `Forbidden` unless the caller may submit commands or leaves the cluster's code unchanged.

    A bootstrap script runs on every node. Lines of `custom_config` name programs that the daemons start, and Java
    options of daemons and jobs. All of this runs like a shell command, also when another user starts the cluster.
    """
    had = {} if before is None else _code(before)
    for field, text in _code(given).items():
        if text and text != had.get(field):
            require_to_write_code(by, field)


def _code(body: ClusterChanges) -> dict[str, str | None]:
    return {
        "node_bootstrap_file": body.node_bootstrap_file,
        "hadoop_settings.custom_config": body.hadoop_settings.custom_config,
        "presto_settings.custom_config": body.presto_settings.custom_config,
    }
