"""The file that lists the hosts."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.providers.hosts_inventory import InventoryFile, parse_inventory
from svc_jupyter.service.clusters.providers.provider import ProviderFailure

EXAMPLE = """
known_hosts = "known_hosts"
[defaults]
user = "data"
key_file = "/keys/id"
folder = "/var/lib/svc-jupyter"
[hosts.both]
address = "10.0.0.10"
[hosts.front]
address = "10.0.0.11"
port = 2222
key_file = "front_key"
java = "/opt/java-17"
roles = ["master"]
[hosts.big]
address = "10.0.0.12"
roles = ["worker"]
labels = ["nightly"]
memory_mb = 65536
"""


def test_hosts_take_the_defaults_and_paths_begin_at_the_file():
    inventory = parse_inventory(EXAMPLE, Path("/etc/svc"))
    front = inventory.hosts["front"]
    assert inventory.known_hosts == Path("/etc/svc/known_hosts")
    assert (str(front.address), front.port, front.user) == ("10.0.0.11", 2222, "data")
    assert (front.key_file, front.java) == (Path("/etc/svc/front_key"), PurePosixPath("/opt/java-17"))
    assert inventory.hosts["both"].key_file == Path("/keys/id")


def test_hosts_that_can_do_nothing_else_are_taken_first_and_labels_keep_others_out():
    inventory = parse_inventory(EXAMPLE, Path("/"))
    assert [host.name for host in inventory.suiting(NodeRole.MASTER, ["default"])] == ["front", "both"]
    assert [host.name for host in inventory.suiting(NodeRole.WORKER, ["default"])] == ["both"]
    assert [host.name for host in inventory.suiting(NodeRole.WORKER, ["a", "nightly"])] == ["big", "both"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("known_hosts = ", "other = "), "known_hosts"),
        (('user = "data"', ""), "host both: user"),
        (('address = "10.0.0.12"', 'address = "10.0.0.10"'), "host big: another host has the address 10.0.0.10"),
        (('address = "10.0.0.12"', 'address = "big.example.com"'), "host big: address"),
        (('folder = "/var/lib/svc-jupyter"', 'folder = "data"'), "host both: folder.*absolute path"),
        (('folder = "/var/lib/svc-jupyter"', 'folder = "/my data"'), "without spaces"),
        (('roles = ["master"]', 'roles = ["boss"]'), "host front: roles"),
        (("memory_mb", "memory"), "host big: memory"),
        (("[hosts.front]", '[hosts."fr ont"]'), "name"),
        (("[defaults]", "[defaults"), "line 3"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(tmp_path: Path, change: tuple[str, str], reason: str):
    file = tmp_path / "inventory.toml"
    file.write_text(EXAMPLE.replace(*change))
    with pytest.raises(ProviderFailure, match=rf"the inventory {file} is wrong: .*{reason}"):
        InventoryFile(file).now()


def test_a_file_without_hosts_and_no_file_at_all_are_refused(tmp_path: Path):
    file = tmp_path / "inventory.toml"
    with pytest.raises(ProviderFailure, match="cannot be read: No such file"):
        InventoryFile(file).now()
    file.write_text('known_hosts = "k"\n[hosts]\n')
    with pytest.raises(ProviderFailure, match="hosts"):
        InventoryFile(file).now()
    with pytest.raises(ProviderFailure, match="SVC_HOSTS_INVENTORY is not set"):
        InventoryFile(None).now()


def test_a_changed_file_counts_at_once_and_a_broken_one_leaves_what_runs_alone(tmp_path: Path):
    file = tmp_path / "inventory.toml"
    file.write_text(EXAMPLE)
    inventory = InventoryFile(file)
    assert "new" not in inventory.now().hosts
    file.write_text(EXAMPLE + '[hosts.new]\naddress = "10.0.0.13"\n')
    assert "new" in inventory.now().hosts
    file.write_text("[")
    os.utime(file, (1, 1))
    with pytest.raises(ProviderFailure):
        inventory.now()
    assert "new" in inventory.last().hosts
