"""The provider `local` over a folder of its own; whatever a test leaves running is ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.instances import Instance, NewNode, Node
from svc_jupyter.service.clusters.providers.local import LocalProvider
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.processes.marks import environment_mark


async def _java() -> Path:
    return Path("/usr/bin/java")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", local_max_nodes=20)


@pytest.fixture
def provider(settings: Settings) -> Iterator[LocalProvider]:
    yield LocalProvider(settings, _java)
    for process in psutil.process_iter():
        if (environment_mark(process, INSTANCE_MARK) or "").startswith(str(settings.data_dir)):
            process.kill()


@pytest.fixture
def instance(settings: Settings) -> Instance:
    """An instance without nodes."""
    return instance_with(settings, [])


def instance_with(settings: Settings, made: list[NewNode]) -> Instance:
    """Return an instance whose rows hold these nodes."""
    nodes = tuple(
        Node(
            id=number,
            role=node.role,
            hostname=node.hostname,
            private_ip=node.private_ip,
            private_dns=node.private_dns,
            instance_type=node.instance_type,
            status="RUNNING",
            created_at=0.0,
            up_at=None,
            last_seen_at=None,
            details=node.details,
        )
        for number, node in enumerate(made, start=1)
    )
    configuration = ClusterConfiguration.model_validate({"node_configuration": {"initial_nodes": 2, "max_nodes": 4}})
    return Instance(
        id=7,
        cluster_id=3,
        account_id=1,
        state=ClusterState.UP,
        configuration=configuration,
        provider="local",
        folder=settings.data_dir / "clusters" / "3" / "7",
        details={},
        start_at=0.0,
        up_at=None,
        last_used_at=0.0,
        terminate_reason=None,
        nodes=nodes,
    )
