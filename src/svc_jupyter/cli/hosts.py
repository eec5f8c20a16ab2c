"""`svc-jupyter hosts`: the machines of the inventory, and whether each can be used."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from svc_jupyter.cli.checks.finding import Finding, Mark
from svc_jupyter.cli.wrong_settings import wrong_settings

if TYPE_CHECKING:
    from svc_jupyter.service.clusters.providers.hosts_inventory import Host, InventoryFile
    from svc_jupyter.service.ground.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `list` and `check`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="the hosts with their addresses, roles, labels and the clusters that have them")
    check = actions.add_parser("check", help="what is right and what is missing on each host; changes nothing there")
    check.add_argument("name", nargs="*", metavar="NAME", help="hosts of the inventory; all of them by default")


def run(arguments: argparse.Namespace) -> int:
    """Run the action; return 0, or 1 when it failed or a host cannot be used."""
    try:
        from pydantic import ValidationError
        from sqlalchemy.exc import DBAPIError

        from svc_jupyter.service.clusters.providers.hosts_inventory import InventoryFile
        from svc_jupyter.service.clusters.providers.provider import ProviderFailure
        from svc_jupyter.service.clusters.providers.requirements import missing
        from svc_jupyter.service.ground.settings import Settings
    except ModuleNotFoundError as error:
        return _fail(f"the service is not installed ({error.name} is missing): pip install 'svc-jupyter[service]'")
    try:
        settings = Settings()
    except ValidationError as error:
        return _fail(wrong_settings(error))
    if lack := missing("hosts", settings):
        return _fail(f"the provider `hosts` cannot be used here: {lack}")
    file = InventoryFile(settings.hosts_inventory)
    try:
        hosts = file.now().hosts
        if arguments.action == "list":
            return _list(settings, list(hosts.values()))
        unknown = [name for name in arguments.name if name not in hosts]
        if unknown:
            return _fail(f"the inventory has no host {unknown[0]}; it has {', '.join(hosts)}")
        return asyncio.run(_check(file, [hosts[name] for name in arguments.name or hosts]))
    except ProviderFailure as failure:
        return _fail(failure.message)
    except DBAPIError as error:
        return _fail(f"the database cannot be used: {str(error.orig).strip()}")


def _list(settings: Settings, hosts: Sequence[Host]) -> int:
    in_use = _in_use(settings)
    print(f"{'NAME':<20}{'ADDRESS':<18}{'ROLES':<16}{'LABELS':<20}CLUSTER")
    for host in hosts:
        roles, labels = ",".join(host.roles), ",".join(host.labels) or "all"
        cluster = in_use.get(host.name, "")
        print(f"{host.name:<20}{host.address!s:<18}{roles:<16}{labels:<20}{cluster}".rstrip())
    return 0


def _in_use(settings: Settings) -> Mapping[str, int]:
    """Return the cluster of each host in use, from the service's database; nothing before its first start."""
    from svc_jupyter.service.clusters.providers.hosts import HostsProvider, hosts_in_use
    from svc_jupyter.service.database.database import Database

    if settings.on_sqlite and not (settings.data_dir / "service.db").exists():
        return {}
    database = Database(settings)
    try:
        with database.connect() as connection:
            return hosts_in_use(connection, HostsProvider.name)
    finally:
        database.close()


async def _check(file: InventoryFile, hosts: Sequence[Host]) -> int:
    from svc_jupyter.cli.checks.hosts import check_host
    from svc_jupyter.service.clusters.providers.hosts_link import HostLinks

    links = HostLinks(file)

    async def findings(host: Host) -> list[Finding]:
        return [finding async for finding in check_host(host, links, _ports_of(host))]

    marks = set()
    try:
        for host, found in zip(hosts, await asyncio.gather(*map(findings, hosts)), strict=True):
            print(host.name)
            for finding in found:
                marks.add(finding.mark)
                print(f"  {finding.mark} {finding.about:<8} {finding.what}")
                if finding.fix:
                    print(f"    {'':<8} → {finding.fix}")
    finally:
        await links.close()
    print("some hosts cannot be used: see ✗ above" if Mark.WRONG in marks else "ready to use")
    return 1 if Mark.WRONG in marks else 0


def _ports_of(host: Host) -> Mapping[int, str]:
    """Return the ports that daemons of any engine listen at, in the host's roles."""
    from svc_jupyter.api.clusters import NodeRole
    from svc_jupyter.service.runtimes.hadoop.addresses import Port
    from svc_jupyter.service.runtimes.hive_server.program import PORT as HIVE_PORT
    from svc_jupyter.service.runtimes.presto.configuration import HTTP_PORT

    workers = {"NODE_MANAGER", "NODE_MANAGER_LOCALIZER", "NODE_MANAGER_HTTP", "SHUFFLE"}
    named = {name: number for name, number in vars(Port).items() if name.isupper()}
    wanted = {
        number: f"Hadoop's {name.lower().replace('_', ' ')}"
        for name, number in named.items()
        if (NodeRole.WORKER if name in workers else NodeRole.MASTER) in host.roles
    }
    if NodeRole.MASTER in host.roles:
        wanted[HIVE_PORT] = "HiveServer2"
    return {**wanted, HTTP_PORT: "Presto"}


def _fail(message: str) -> int:
    print(f"svc-jupyter: {message}", file=sys.stderr)
    return 1
