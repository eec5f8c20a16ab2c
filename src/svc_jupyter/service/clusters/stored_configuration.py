"""Stored cluster configurations: secrets are sealed separately, the rest is JSON.

Secrets are write-only: what is stored, shown, logged or given to an instance has `<hidden>` in their place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from svc_jupyter.api.clusters import HIDDEN, ClusterChanges, ClusterConfiguration
from svc_jupyter.service.clusters.cluster_rows import ClusterRow
from svc_jupyter.service.ground.secrets import SecretBox

SECRETS = ("compute_access_key", "compute_secret_key")
"""The secret fields of `cloud_settings`."""


def to_json(configuration: ClusterConfiguration, *, with_labels: bool = False) -> dict[str, Any]:
    """Return a configuration for storage, without labels, which have their own table."""
    return configuration.model_dump(mode="json", exclude=None if with_labels else {"label"})


def merged(before: ClusterConfiguration, changes: ClusterChanges) -> dict[str, Any]:
    """Return a configuration's body with changes applied: objects are merged deeply, lists and texts replaced."""
    return _merged(before.model_dump(mode="json"), changes.model_dump(mode="json", exclude_unset=True))


def changed_fields(changes: ClusterChanges) -> list[str]:
    """Return the names of a body's fields, such as `hadoop_settings.custom_config`, for the audit log."""
    return sorted(_paths(changes.model_dump(mode="json", exclude_unset=True)))


def take_secrets(
    box: SecretBox, configuration: ClusterConfiguration, given: ClusterChanges, sealed: str | None
) -> str | None:
    """Return the sealed secrets of a merged configuration, and replace them there with `<hidden>`.

    `sealed` are the previous ones. `<hidden>` or a missing value keeps a secret, an empty text deletes it. Raises
    `ValueError` when they were sealed with another key.
    """
    values = {name: getattr(given.cloud_settings, name) for name in SECRETS}
    secrets: dict[str, str] = {}
    if any(value not in (None, HIDDEN) for value in values.values()) and sealed is not None:
        secrets = json.loads(box.open(sealed))
    elif sealed is not None:
        return sealed
    for name, value in values.items():
        if value == "":
            secrets.pop(name, None)
        elif value not in (None, HIDDEN):
            secrets[name] = value
        setattr(configuration.cloud_settings, name, HIDDEN if name in secrets else None)
    return box.seal(json.dumps(secrets)) if secrets else None


def cluster_record(cluster: ClusterRow) -> dict[str, Any]:
    """Return the record of a cluster."""
    return {
        "id": cluster.id,
        "label": list(cluster.labels),
        "state": cluster.state.value,
        **to_json(cluster.configuration),
    }


def _merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    after = dict(before)
    for key, value in given.items():
        known = after.get(key)
        after[key] = _merged(known, value) if isinstance(value, dict) and isinstance(known, dict) else value
    return after


def _paths(given: Mapping[str, Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for key, value in given.items():
        found += _paths(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}"]
    return found
