"""No sequence of folder operations makes an orphan, a cycle or a doubled name."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from svc_jupyter.api.folders import NOTES, FolderCreate, FolderMove, FolderReference, FolderRename
from svc_jupyter.api.notes import NoteCreate, NoteUpdate
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.workspace import folders, notes
from svc_jupyter.service.workspace.workspace import Workspace

ADMIN = Caller(1, 1, "admin@localhost", frozenset({"system-admin"}), token_id=1)
ROOTS = ("Common", "Users/admin@localhost")
NAMES = st.sampled_from(["a", "b", "c"])
LOCATIONS = st.builds(lambda root, names: "/".join((root, *names)), st.sampled_from(ROOTS), st.lists(NAMES, max_size=3))
Model = dict[str, set[str]]
"""The notes of each folder, by its location."""


class FolderMachine(RuleBasedStateMachine):
    """The workspace beside a model of it: a set of locations, changed as one would with pen and paper."""

    schema: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shutil.copy(self.schema, self.folder / "service.db")
        service_settings = Settings(data_dir=self.folder)
        self.database = Database(service_settings)
        with self.database.begin() as connection:
            ensure_account(connection, service_settings)
        self.workspace = Workspace.of(self.database)
        self.model: Model = {root: set() for root in ROOTS}

    def teardown(self) -> None:
        self.database.close()
        shutil.rmtree(self.folder)

    @rule(parent=LOCATIONS, name=NAMES)
    def create(self, parent: str, name: str) -> None:
        path = f"{parent}/{name}"
        body = FolderCreate(name=name, location=parent, type=NOTES)
        if self._tried(lambda: self.workspace.folders.create(body, by=ADMIN), parent in self.model, path):
            self.model[path] = set()

    @rule(source=LOCATIONS, to=LOCATIONS)
    def move(self, source: str, to: str) -> None:
        path = f"{to}/{source.rpartition('/')[2]}"
        body = FolderMove(location=source, destination_location=to, type=NOTES)
        may = {source, to} <= self.model.keys() and source not in ROOTS and not _within(to, source)
        taken = None if path == source else path
        if self._tried(lambda: self.workspace.folders.move(body, by=ADMIN), may, taken):
            self._relocate(source, path)

    @rule(source=LOCATIONS, name=NAMES)
    def rename(self, source: str, name: str) -> None:
        path = f"{source.rpartition('/')[0]}/{name}"
        body = FolderRename(location=source, name=name, type=NOTES)
        may = source in self.model and source not in ROOTS
        taken = None if path == source else path
        if self._tried(lambda: self.workspace.folders.rename(body, by=ADMIN), may, taken):
            self._relocate(source, path)

    @rule(location=LOCATIONS)
    def delete(self, location: str) -> None:
        reference = FolderReference(location=location, type=NOTES)
        may = location in self.model and location not in ROOTS
        if self._tried(lambda: self.workspace.folders.delete(reference, by=ADMIN), may, None):
            self.model = {path: held for path, held in self.model.items() if not _within(path, location)}

    @rule(location=LOCATIONS, name=NAMES)
    def make_a_note(self, location: str, name: str) -> None:
        may = location in self.model and name not in self.model[location]
        body = NoteCreate(name=name, location=location)
        if self._tried(lambda: self.workspace.notes.create(body, by=ADMIN), may, None):
            self.model[location].add(name)

    @rule(source=LOCATIONS, to=LOCATIONS, name=NAMES, new_name=NAMES)
    def move_a_note(self, source: str, to: str, name: str, new_name: str) -> None:
        if name not in self.model.get(source, ()):
            return
        with self.database.connect() as connection:
            rows = connection.execute(sa.select(notes.c.id).where(notes.c.name == name)).scalars().all()
        note_id = next(one for one in rows if self.workspace.notes.get(one, by=ADMIN).summary.location == source)
        body = NoteUpdate(name=new_name, location=to)
        stays = (source, name) == (to, new_name)
        may = to in self.model and (stays or new_name not in self.model[to])
        if self._tried(lambda: self.workspace.notes.update(note_id, body, by=ADMIN), may, None):
            self.model[source].discard(name)
            self.model[to].add(new_name)

    @invariant()
    def the_tree_is_the_model(self) -> None:
        with self.database.connect() as connection:
            rows = connection.execute(sa.select(folders)).all()
            placed = connection.execute(sa.select(notes.c.folder_id, notes.c.name)).all()
        by_id = {row.id: row for row in rows}
        found: Model = {root: set() for root in ROOTS}
        locations: dict[int, str] = {}
        for row in rows:
            way = [row]
            while way[-1].parent_id is not None:
                way.append(by_id[way[-1].parent_id])  # an orphan has no row there
                assert len(way) <= len(rows), "a cycle"
            root = ROOTS[0] if way[-1].root_of == 0 else ROOTS[1]
            locations[row.id] = "/".join((root, *(one.name for one in reversed(way[:-1]))))
        assert len(set(locations.values())) == len(rows), "a doubled name"
        found |= {location: set() for location in locations.values()}
        for note in placed:
            assert note.name not in found[locations[note.folder_id]], "a doubled name"
            found[locations[note.folder_id]].add(note.name)
        assert found == self.model

    @invariant()
    def lists_tell_the_same(self) -> None:
        for location, held in self.model.items():
            shown = self.workspace.lists.list(NOTES, location, Page(1, 100), by=ADMIN)
            assert {note.name for note in shown.notes} == held
            children = {path for path in self.model if path not in ROOTS and path.rpartition("/")[0] == location}
            assert {folder.location for folder in shown.folders} == children

    def _tried(self, call: Callable[[], Any], may: bool, new: str | None) -> bool:
        """Return whether a call was allowed; it is exactly when it may and what is new is not there."""
        try:
            call()
        except (Invalid, NotFound):
            assert not may or new in self.model
            return False
        assert may
        assert new not in self.model
        return True

    def _relocate(self, source: str, path: str) -> None:
        self.model = {
            path + location[len(source) :] if _within(location, source) else location: held
            for location, held in self.model.items()
        }


def _within(location: str, folder: str) -> bool:
    return location == folder or location.startswith(f"{folder}/")


@pytest.mark.all
def test_no_sequence_of_operations_breaks_the_tree(sqlite_schema: Path):
    FolderMachine.schema = sqlite_schema
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        FolderMachine,
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
