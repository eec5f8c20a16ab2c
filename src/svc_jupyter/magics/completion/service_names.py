"""Names from the service (taps, commands, schedules, folders …), fetched in the background for completion.

A completion waits for them only briefly and shows late ones the next time. It never starts a service.
"""

from __future__ import annotations

import itertools
import re
import shlex
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from svc_jupyter.magics.session.session import Background, Session
from svc_jupyter.magics.tables import all_tables

if TYPE_CHECKING:
    from svc_jupyter.client import Client

WAIT_SECONDS = 0.25
"""How long a completion waits for the service; users notice more than 0.3 s."""
FRESH_SECONDS = 15.0
RETRY_SECONDS = 5.0
_RECENT_COMMANDS = 20
_LABEL_COMMANDS = 100
"""How many of the latest commands are searched for labels."""
_RECENT_SCHEDULES = 100
_TABLES = 1000
_POOL = re.compile(r"""<(?:queue|pool)\s+name=["']([^"']+)""")
_LISTED = 100
"""How many items of a folder are offered."""

Fetch = Callable[["Client"], "list[str] | dict[str, str]"]
"""Returns names, each optionally with a word (a cluster's state)."""


@dataclass
class Known:
    """One kind of names, as last fetched."""

    fetch: Fetch
    names: list[str] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    fetched: float = float("-inf")
    tried: float = float("-inf")
    running: Background[None] | None = None


class ServiceNames:
    """Cached names from the service, for completion. Never raises, never waits long."""

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds = {
            "taps": Known(_taps),
            "labels": Known(_labels),
            "pools": Known(_pools),
            "tables": Known(_tables),
            "commands": Known(_commands),
            "schedules": Known(_schedules),
            "channels": Known(_channels),
            "users": Known(_users),
            "groups": Known(_groups),
        }

    def of(self, kind: str) -> list[str]:
        """Return the names of a kind (`taps`, `labels`, `commands` …) that are known within WAIT_SECONDS."""
        known = self._kinds[kind]
        with self._lock:
            now = self._clock()
            stale = now - known.fetched > FRESH_SECONDS and now - known.tried > RETRY_SECONDS
            if stale and (known.running is None or known.running.wait(0)):
                known.tried = now
                known.running = Background(lambda: self._fetch(known), "completion").start()
            running = known.running
        if running is not None:
            running.wait(WAIT_SECONDS)
        return known.names

    def word_on(self, kind: str, name: str) -> str | None:
        """Return the word stored with a name, such as a cluster's state; makes no call."""
        return self._kinds[kind].words.get(name)

    def workers(self, cluster: str) -> list[str]:
        """Return the names of a cluster's workers."""
        kind = f"workers of {cluster}"
        with self._lock:
            self._kinds.setdefault(kind, Known(lambda client: _workers(client, cluster)))
        return self.of(kind)

    def locations(self, word: str, *, notes: bool = False) -> list[str]:
        """Return the items of the folder in a partial location: folders, with `notes` also notes."""
        parent = word.rpartition("/")[0]
        kind = f"in {parent} {notes}"
        with self._lock:
            self._kinds.setdefault(kind, Known(lambda client: _inside(client, parent, notes=notes)))
        return self.of(kind)

    def _fetch(self, known: Known) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            if self._session.reachable():
                found = known.fetch(self._session.client())
                known.names, known.words = list(found), found if isinstance(found, dict) else {}
                known.fetched = self._clock()
        except SvcError:
            return  # a completion cannot report it; the cell itself will


def _taps(client: Client) -> list[str]:
    return sorted(tap.name for tap in client.db_taps.iter())


def _labels(client: Client) -> dict[str, str]:
    """Return the labels with their clusters' states; if clusters cannot be listed, the latest commands' labels."""
    from svc_jupyter.client.errors import StatusError

    try:
        clusters = client.clusters.list(per_page=_LISTED).clusters
    except StatusError:
        records = client.commands.list(per_page=_LABEL_COMMANDS).commands
        return dict.fromkeys(sorted({record.label for record in records if record.label}), "")
    return dict(sorted((label, f"cluster {cluster.state}") for cluster in clusters for label in cluster.label))


def _pools(client: Client) -> list[str]:
    """Return the pools in the clusters' configurations and in the latest commands."""
    records = client.commands.list(per_page=_LABEL_COMMANDS).commands
    pools = {record.pool for record in records if record.pool}
    for cluster in client.clusters.list(per_page=_LISTED).clusters:
        settings = cluster.hadoop_settings.get("fairscheduler_settings") or {}
        pools.update(_POOL.findall(settings.get("fairscheduler_config_xml") or ""))
        pools.update(filter(None, [settings.get("default_pool")]))
    return sorted(pools)


def _tables(client: Client) -> list[str]:
    return [f"{schema}.{table}" for schema, table in itertools.islice(all_tables(client), _TABLES)]


def _workers(client: Client, cluster: str) -> list[str]:
    return [node.private_dns for node in client.clusters.state(cluster).nodes if str(node.role) == "worker"]


def _commands(client: Client) -> list[str]:
    return [str(record.id) for record in client.commands.list(per_page=_RECENT_COMMANDS).commands]


def _schedules(client: Client) -> list[str]:
    """Return the names of the newest schedules, quoted as one word of a line."""
    schedules = client.schedules.list(per_page=_RECENT_SCHEDULES).schedules
    return [shlex.quote(schedule.name) for schedule in schedules]


def _channels(client: Client) -> list[str]:
    return [str(channel.id) for channel in client.notification_channels.iter()]


def _users(client: Client) -> list[str]:
    return sorted(user.email for user in client.users.iter())


def _groups(client: Client) -> list[str]:
    return sorted(shlex.quote(group.name) for group in client.groups.iter())


def _inside(client: Client, location: str, *, notes: bool) -> list[str]:
    """Return the locations of one page of a folder's items, with escaped blanks."""
    contents = client.folders.list(location or None, per_page=_LISTED)
    found = [folder.location for folder in contents.folders]
    found += [f"{note.location}/{note.name}" for note in contents.notes if notes]
    return [path.replace(" ", "\\ ") for path in found]
