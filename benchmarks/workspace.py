"""10,000 folders and 100,000 notes: a page of a folder, a note, and the move and deletion of a whole subtree.

Half of the notes are in one folder, the others in a subtree with all the folders. Times are measured in a client, over
one connection; the subtree is moved back and forth.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
import sqlalchemy as sa

from benchmarks import report
from benchmarks.postgres import postgres
from benchmarks.service import Service

_NOTES_EACH = 5


def run(folder: Path, *, quick: bool) -> None:
    """Print the times on SQLite and on PostgreSQL."""
    width, rounds = (30, 5) if quick else (100, 40)
    with Service(folder / "sqlite") as service:
        url = f"sqlite:///{service.data_dir / 'service.db'}"
        found = {"SQLite": _measured(service, url, width, rounds)}
    with postgres(folder) as address, Service(folder / "on-postgres", SVC_DATABASE_URL=address) as service:
        url = address.replace("postgresql://", "postgresql+psycopg://")
        found["PostgreSQL"] = _measured(service, url, width, rounds)
    rows = [
        [f"{name}: {what}", report.milliseconds(median(times)), report.milliseconds(_slow(times)), str(len(times))]
        for name, measured in found.items()
        for what, times in measured.items()
    ]
    count = width * width
    title = f"{count:,} folders, {2 * _NOTES_EACH * count:,} notes"
    report.table(title, ["", "median, ms", "p95, ms", "rounds"], rows)


def _slow(times: Sequence[float]) -> float:
    return times[0] if len(times) == 1 else quantiles(times, n=20)[-1]


def _measured(service: Service, url: str, width: int, rounds: int) -> dict[str, list[float]]:
    base_url, token = service.address
    with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=120) as http:
        _call(http, "POST", "/notebooks", name="first", location="Common", paragraphs=[{"text": "select 1"}])
        for name in ("tree", "crowded", "elsewhere"):
            _call(http, "POST", "/folders", name=name, location="Common", type="notes")
        note_id = _seed(url, width)
        last = width * width * _NOTES_EACH // 100
        ways = itertools.cycle([("Common/tree", "Common/elsewhere"), ("Common/elsewhere/tree", "Common")])

        def move() -> None:
            source, target = next(ways)
            _call(http, "POST", "/folders/move", location=source, destination_location=target, type="notes")

        def page(location: str, number: int) -> None:
            params: dict[str, Any] = {"type": "notes", "location": location, "page": number, "per_page": 100}
            http.get("/folders", params=params).raise_for_status()

        measured = {
            "a page of 100 folders": _timed(lambda: page("Common/tree", 1), rounds),
            "the first 100 of the crowded folder": _timed(lambda: page("Common/crowded", 1), rounds),
            "its last 100": _timed(lambda: page("Common/crowded", last), rounds),
            "one note": _timed(lambda: http.get(f"/notebooks/{note_id}").raise_for_status(), rounds),
            "move of the subtree": _timed(move, rounds + rounds % 2),
        }
        gone = {"location": "Common/tree", "type": "notes"}
        measured["deletion of the subtree"] = _timed(lambda: _call(http, "DELETE", "/folders/delete", **gone), 1)
    return measured


def _timed(call: Callable[[], object], rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return times


def _call(http: httpx.Client, method: str, path: str, **body: Any) -> None:
    http.request(method, path, json=body).raise_for_status()


def _seed(url: str, width: int) -> int:
    """Insert folders into `Common/tree` and notes into them and `Common/crowded`; return the id of one there."""
    engine = sa.create_engine(url)
    metadata = sa.MetaData()
    metadata.reflect(engine, only=["folders", "notes", "note_revisions"])
    folders, notes = metadata.tables["folders"], metadata.tables["notes"]
    with engine.begin() as connection:
        first = dict(connection.execute(sa.select(notes)).mappings().one())
        named = dict(connection.execute(sa.select(folders.c.name, folders.c.id)).tuples().all())
        row = dict(connection.execute(sa.select(folders).where(folders.c.name == "tree")).mappings().one())
        inner = _filled(connection, folders, row, [row["id"]], width)
        leaves = _filled(connection, folders, row, inner, width - 1)
        places = [place for place in (*inner, *leaves) for _ in range(_NOTES_EACH)]
        places += [named["crowded"]] * len(places)
        del first["id"]
        connection.execute(
            sa.insert(notes),
            [first | {"folder_id": place, "name": f"note {number:06}"} for number, place in enumerate(places)],
        )
        connection.execute(
            sa.text(
                "INSERT INTO note_revisions (note_id, number, user_id, created_at, size, document)"
                " SELECT n.id, 1, r.user_id, r.created_at, r.size, r.document FROM notes n, note_revisions r"
                " WHERE n.name <> 'first'"
            )
        )
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text("ANALYZE"))
        found = sa.select(sa.func.max(notes.c.id))
        note_id: int = connection.execute(found).scalar_one()
    engine.dispose()
    return note_id


def _filled(
    connection: sa.Connection, folders: sa.Table, row: dict[str, Any], parents: Sequence[int], count: int
) -> list[int]:
    """Insert `count` folders into each of the parents and return their ids."""
    same = {key: value for key, value in row.items() if key != "id"}
    rows = [same | {"parent_id": parent, "name": f"folder {n:04}"} for parent in parents for n in range(count)]
    connection.execute(sa.insert(folders), rows)
    lowest, highest = min(parents), max(parents)
    inside = folders.c.parent_id.between(lowest, highest)
    return list(connection.execute(sa.select(folders.c.id).where(inside)).scalars())
