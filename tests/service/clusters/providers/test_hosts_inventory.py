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


FOLDER = 'folder = "/var/lib/svc-jupyter"'
NO_FOLDER = "Value error, must be an absolute path without spaces, as /var/lib/svc-jupyter"
WRONG = {
    ("known_hosts = ", "other = "): "known_hosts: Field required",
    ('user = "data"', ""): "host both: user: Field required",
    ('address = "10.0.0.12"', 'address = "10.0.0.10"'): "host big: another host has the address 10.0.0.10, too",
    ('address = "10.0.0.12"', 'address = "big.example.com"'): "host big: address: Input is not a valid IPv4 address",
    (FOLDER, 'folder = "data"'): f"host both: folder: {NO_FOLDER}",
    (FOLDER, 'folder = "/my data"'): f"host both: folder: {NO_FOLDER}",
    ('roles = ["master"]', 'roles = ["boss"]'): "host front: roles.0: Input should be 'master' or 'worker'",
    ("memory_mb", "memory"): "host big: memory: Extra inputs are not permitted",
    (
        "[hosts.front]",
        '[hosts."fr ont"]',
    ): "host fr ont: name: String should match pattern '^[A-Za-z0-9]([A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$'",
    ("[defaults]", "[defaults"): "Expected ']' at the end of a table declaration (at line 3, column 10)",
}


def test_a_wrong_file_is_refused_with_the_place(tmp_path: Path):
    file = tmp_path / "inventory.toml"

    def refusal(change: tuple[str, str]) -> str:
        file.write_text(EXAMPLE.replace(*change))
        with pytest.raises(ProviderFailure) as refused:
            InventoryFile(file).now()
        return str(refused.value)

    told = {change: f"the inventory {file} is wrong: {reason}" for change, reason in WRONG.items()}
    assert {change: refusal(change) for change in WRONG} == told


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
