"""Starts that cannot succeed: they end soon, say why in words, and leave nothing behind."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.hadoop import HadoopCluster, end_clusters_of

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.providers import local
from svc_jupyter.service.clusters.providers.marked_processes import marked
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.runtimes.hadoop.addresses import Port

pytestmark = [pytest.mark.timeout(600), pytest.mark.engine]
BLOCK = "127.211.17"
ON_A_SMALL_DISK = """
import asyncio, sys
from pathlib import Path
from tests.support.hadoop import HadoopCluster
async def main():
    cluster = HadoopCluster.of(Path(sys.argv[1]), min_free_disk_bytes=0)
    try:
        await cluster.start()
    except Exception as error:
        print(type(error).__name__, error)
    await cluster.end()
asyncio.run(main())
"""


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    end_clusters_of(tmp_path / "data")


async def test_a_port_that_is_taken_is_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local, "choose_block", lambda *_arguments: BLOCK)
    cluster = HadoopCluster.of(data_dir)
    with (
        socket.create_server((f"{BLOCK}.1", Port.RESOURCE_TRACKER)),
        pytest.raises(ClusterFailure, match=rf"listens at {BLOCK}\.1:{Port.RESOURCE_TRACKER}\. `ss -ltnp"),
    ):
        await cluster.start()
    instance = await cluster.instance()
    await cluster.end()
    assert not list(marked(INSTANCE_MARK, instance.folder))
    assert not (instance.folder / "nodes").exists()


@pytest.mark.parametrize("size", ["200k", "1500k"])
def test_a_disk_that_becomes_full_is_reported(data_dir: Path, size: str):
    clusters = data_dir / "clusters"
    clusters.mkdir(parents=True)
    mount = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
    program = [sys.executable, "-c", ON_A_SMALL_DISK, str(data_dir)]
    namespace = ["unshare", "-m"] if subprocess.run(["unshare", "-m", "true"]).returncode == 0 else ["unshare", "-rm"]
    ended = subprocess.run(
        [*namespace, "sh", "-c", mount, str(clusters), *program],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "disk" in ended.stdout, ended
    assert "full" in ended.stdout, ended
    assert ended.returncode == 0, ended
