"""Authorization with 1,000 object policies and a caller in 200 groups, each with a role: per decision, list, look-up.

Processor time of this process. A decision is made at every call; a caller is looked up after a change, and with several
replicas every five seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from benchmarks import report
from svc_jupyter.api.access import Action, Resource
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.access.caller_reading import CallerReader
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.listing import readable
from svc_jupyter.service.access.permissions import decision
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import group_roles, groups, memberships, object_policy_versions, roles, users
from svc_jupyter.service.schema.schedules import schedules

_POLICIES = 1000
_GROUPS = 200
_ENTRIES = 10


def run(folder: Path, *, quick: bool) -> None:
    """Print microseconds per operation."""
    rounds = 2_000 if quick else 50_000
    settings = Settings(data_dir=folder)
    database = Database(settings)
    try:
        migrations.upgrade(database)
        with database.begin() as connection:
            ensure_account(connection, settings)
            user_id = _furnish(connection)
        with database.connect() as connection:
            reader = CallerReader()
            found = reader.user(connection, 1, user_id)
            assert found is not None
            rows = _measured(reader, connection, found[0], rounds)
    finally:
        database.close()
    report.table(f"{_POLICIES:,} policies of {_ENTRIES} entries, {_GROUPS} groups", ["", "µs"], rows)


def _measured(reader: CallerReader, connection: sa.Connection, caller: Caller, rounds: int) -> list[list[str]]:
    operations: dict[str, tuple[Callable[[], object], int]] = {
        "a decision, without an object": (lambda: decision(caller, Action.READ, Resource.COMMAND), rounds),
        "a decision about an object with a policy": (
            lambda: decision(caller, Action.DELETE, Resource.SCHEDULER, 700),
            rounds,
        ),
        "the condition of a list": (lambda: readable(caller, Resource.SCHEDULER, schedules.c.id), rounds // 100),
        "the same for the first time": (
            lambda: readable(replace(caller, exceptions={}), Resource.SCHEDULER, schedules.c.id),
            rounds // 500,
        ),
        "looking a caller up, the policies known": (lambda: reader.user(connection, 1, caller.user_id), rounds // 500),
        "looking a caller up, no policy known": (lambda: CallerReader().user(connection, 1, caller.user_id), 4),
    }
    return [[name, f"{_microseconds(work, count):,.1f}"] for name, (work, count) in operations.items()]


def _microseconds(work: Callable[[], object], rounds: int) -> float:
    work()
    started = time.process_time()
    for _ in range(rounds):
        work()
    return (time.process_time() - started) / rounds * 1e6


def _furnish(connection: sa.Connection) -> int:
    person = {"account_id": 1, "email": "many@example.com", "name": "many", "enabled": True, "created_at": 0.0}
    user_id: int = connection.execute(sa.insert(users).values(**person).returning(users.c.id)).scalar_one()
    numbers = range(1000, 1000 + _GROUPS)
    allow = [{"access": "allow", "resource": "all", "action": ["read", "update"]}]
    connection.execute(sa.insert(groups), [{"id": n, "account_id": 1, "name": f"group {n}"} for n in numbers])
    connection.execute(
        sa.insert(roles), [{"id": n, "account_id": 1, "name": f"role {n}", "policies": allow} for n in numbers]
    )
    connection.execute(sa.insert(group_roles), [{"group_id": n, "role_id": n} for n in numbers])
    connection.execute(sa.insert(memberships), [{"group_id": n, "user_id": user_id} for n in numbers])
    version = {"account_id": 1, "source_type": "scheduler", "user_id": 1, "created_at": 0.0, "replaced": False}
    connection.execute(
        sa.insert(object_policy_versions), [{**version, "source_id": n, "policy": _policy(n)} for n in range(_POLICIES)]
    )
    return user_id


def _policy(number: int) -> list[dict[str, object]]:
    return [
        {
            "access": "deny" if entry % 2 else "allow",
            "condition": {"service_groups": [1000 + (number + entry) % _GROUPS]},
            "action": ["update", "delete"] if entry else ["manage"],
        }
        for entry in range(_ENTRIES)
    ]
