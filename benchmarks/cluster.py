"""A running Hadoop cluster for a benchmark: `default`, started by `with` and terminated afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

_SECONDS = 120.0
_LOOK_SECONDS = 0.01


@contextmanager
def running_cluster(http: httpx.Client, workers: int) -> Iterator[str]:
    """Start the cluster with this many workers; yield the address of its coordinator."""
    nodes = {"initial_nodes": workers, "max_nodes": workers}
    body = {"hadoop_settings": {"custom_config": ""}, "node_configuration": nodes}
    http.put("/clusters/default", json=body).raise_for_status()
    http.put("/clusters/default/state", json={"state": "start"}).raise_for_status()
    _until(http, "UP")
    try:
        state = http.get("/clusters/default/state").json()
        (master,) = (node for node in state["nodes"] if node["role"] == "master")
        yield str(master["private_ip"])
    finally:
        http.put("/clusters/default/state", json={"state": "terminate"}).raise_for_status()
        _until(http, "DOWN")


def _until(http: httpx.Client, state: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while (now := http.get("/clusters/default/state").json())["state"] != state:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the cluster is not {state}: {now['message'] or now['terminate_reason']}")
        time.sleep(_LOOK_SECONDS)
