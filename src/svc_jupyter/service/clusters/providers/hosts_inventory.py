"""The inventory of the provider `hosts`: a TOML file of machines, their connections and their roles."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.providers.provider import ProviderFailure

_NAME: Final = r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$"


def _absolute(path: PurePosixPath) -> PurePosixPath:
    if not path.is_absolute() or path == PurePosixPath("/") or any(sign.isspace() for sign in str(path)):
        raise ValueError("must be an absolute path without spaces, as /var/lib/svc-jupyter")
    return path


Folder = Annotated[PurePosixPath, AfterValidator(_absolute)]


class Host(BaseModel):
    """One machine. `address` is used for SSH, by its daemons and by the other nodes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=_NAME)
    address: IPv4Address
    user: str = Field(min_length=1)
    port: int = Field(default=22, ge=1, le=65_535)
    key_file: Path
    folder: Folder
    java: Folder | None = None
    """Java's home, or its program; by default JAVA_HOME and the PATH of the machine."""
    roles: tuple[NodeRole, ...] = Field(default=(NodeRole.MASTER, NodeRole.WORKER), min_length=1)
    labels: tuple[str, ...] = ()
    """Labels of the clusters that may use it; none means every cluster."""
    memory_mb: int | None = Field(default=None, ge=512)
    """Memory for containers; by default three quarters of the machine's memory."""
    cores: int | None = Field(default=None, ge=1)

    def suits(self, role: NodeRole, labels: Sequence[str]) -> bool:
        """Whether a cluster with these labels may use it in this role."""
        return role in self.roles and (not self.labels or not set(self.labels).isdisjoint(labels))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    known_hosts: Path
    defaults: dict[str, Any] = Field(default_factory=dict)
    hosts: dict[str, dict[str, Any]] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Inventory:
    """All machines, in the file's order, and the file with their host keys."""

    hosts: Mapping[str, Host]
    known_hosts: Path

    def suiting(self, role: NodeRole, labels: Sequence[str]) -> Sequence[Host]:
        """Return the hosts for a role; those that have no other role come first."""
        suiting = [host for host in self.hosts.values() if host.suits(role, labels)]
        return sorted(suiting, key=lambda host: (len(host.roles), not host.labels))


def parse_inventory(text: str, folder: Path) -> Inventory:
    """Parse the text of an inventory; relative paths begin at `folder`. Raises `ValueError`."""
    file = _File.model_validate(tomllib.loads(text))
    hosts: dict[str, Host] = {}
    for name, own in file.hosts.items():
        try:
            host = Host.model_validate({**file.defaults, **own, "name": name})
        except ValidationError as error:
            raise ValueError(f"host {name}: {_first_of(error)}") from None
        if any(other.address == host.address for other in hosts.values()):
            raise ValueError(f"host {name}: another host has the address {host.address}, too")
        hosts[name] = host.model_copy(update={"key_file": folder / host.key_file.expanduser()})
    return Inventory(hosts, folder / file.known_hosts.expanduser())


class InventoryFile:
    """The file, read again after a change: hosts are added and removed without a restart of the service."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._read: tuple[tuple[int, int], Inventory] | None = None

    def now(self) -> Inventory:
        """Return the inventory. Raises `ProviderFailure` for an unreadable or invalid file."""
        if self._file is None:
            raise ProviderFailure(
                "SVC_HOSTS_INVENTORY is not set: the provider `hosts` needs a file that lists its machines"
            )
        try:
            status = self._file.stat()
            version = (status.st_mtime_ns, status.st_size)
            if self._read is None or self._read[0] != version:
                self._read = (version, parse_inventory(self._file.read_text("utf-8"), self._file.parent))
        except OSError as error:
            raise ProviderFailure(f"the inventory {self._file} cannot be read: {error.strerror or error}") from error
        except ValidationError as error:
            raise ProviderFailure(f"the inventory {self._file} is wrong: {_first_of(error)}") from error
        except ValueError as error:
            raise ProviderFailure(f"the inventory {self._file} is wrong: {error}") from error
        return self._read[1]

    def last(self) -> Inventory:
        """Like `now`, but the last valid inventory while the file is invalid, so that running clusters continue."""
        try:
            return self.now()
        except ProviderFailure:
            if self._read is None:
                raise
            return self._read[1]


def _first_of(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
