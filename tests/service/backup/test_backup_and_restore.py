"""A service's backup, restored elsewhere: every row, every file, and nothing that belongs to the machine."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.service.backup.conftest import LARGE, AddCommand
from tests.support.s3_server import S3Server

from svc_jupyter.service.backup import restoring, taking
from svc_jupyter.service.backup.manifest import content_name
from svc_jupyter.service.backup.restoring import backups, restore
from svc_jupyter.service.backup.taking import back_up
from svc_jupyter.service.backup.target import BackupFailure, Target
from svc_jupyter.service.data_folder import identity
from svc_jupyter.service.data_folder.data_folder import DataFolder, DataFolderTakenError
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.clusters import cluster_instances
from svc_jupyter.service.schema.commands import commands, replicas
from svc_jupyter.service.schema.metadata import metadata

BEFORE = "alpha (before the restore)"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Settings:
    """An empty data folder on SQLite."""
    return Settings(data_dir=tmp_path / "new")


@pytest.fixture
def restored(elsewhere: Settings) -> Iterator[Database]:
    """The database that is restored to."""
    database = Database(elsewhere)
    yield database
    database.close()


def rows_of(database: Database, table: sa.Table) -> list[dict[str, Any]]:
    with database.connect() as connection:
        rows = connection.execute(sa.select(table)).mappings()
        return sorted((dict(row) for row in rows), key=repr)


def contents_of(folder: Path) -> dict[str, object]:
    """Return what is in a folder: the content and mode of files, the target of links."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes(), stat.S_IMODE(path.stat().st_mode), path.stat().st_mtime_ns
        else:
            found[name] = None
    return found


def manifest_of(target: Path) -> Path:
    """Return the only manifest."""
    (file,) = (target / "backups").iterdir()
    return file


class TestOfEitherDatabase:
    def test_every_row_and_every_file_is_as_it_was(
        self, service: Settings, database: Database, add_command: AddCommand, target: Path, elsewhere: Settings
    ):
        folders = [add_command() for _ in range(3)]
        before = {table.name: rows_of(database, table) for table in metadata.sorted_tables}
        made = back_up(service, str(target))
        restore(elsewhere, str(target))
        after = Database(elsewhere)
        for table in metadata.sorted_tables:
            if table not in (replicas, cluster_instances):
                assert rows_of(after, table) == before[table.name], table.name
        after.close()
        for name in ("commands", "storage", "jupyter", "hive/metastore/derby"):
            assert contents_of(elsewhere.data_dir / name) == contents_of(service.data_dir / name)
        assert (made.head.commands, made.end.left_out) == (len(folders), {})
        assert (elsewhere.data_dir / "storage" / "large.bin").read_bytes() == LARGE
        assert sorted(path.name for path in elsewhere.data_dir.iterdir()) == sorted(
            ["commands", "hive", "identity.json", "jupyter", "secret.key", "service.db", "service.lock", "storage"]
        )
        assert not (elsewhere.data_dir / "hive" / "metastore" / "port").exists()
        assert sorted(path.name for path in target.iterdir()) == ["backups", "contents", "svc-jupyter-backups.json"]

    def test_replicas_and_running_clusters_belong_to_the_former_host_after_a_restore(
        self, service: Settings, add_command: AddCommand, target: Path, elsewhere: Settings, restored: Database
    ):
        add_command("running")
        back_up(service, str(target))
        restore(elsewhere, str(target))
        assert [row["host"] for row in rows_of(restored, replicas)] == [BEFORE]
        (mine,) = {row["host"] for row in rows_of(restored, cluster_instances)} - {BEFORE, "alpha"}
        assert mine == f"{os.uname().nodename} (before the restore)"  # of a cluster that any host can drive
        states = {(row["state"], row["host"], row["replica_id"]) for row in rows_of(restored, cluster_instances)}
        assert states == {("UP", BEFORE, None), ("UP", mine, None), ("DOWN", "alpha", None)}

    def test_the_folder_and_its_database_belong_together(
        self, service: Settings, target: Path, elsewhere: Settings, restored: Database
    ):
        back_up(service, str(target))
        restore(elsewhere, str(target))
        identity.check(elsewhere, restored)
        assert back_up(elsewhere, str(target)).new_bytes > 0  # the same service goes on with its backups

    def test_ids_go_on_above_rows_that_were_deleted(
        self,
        service: Settings,
        database: Database,
        add_command: AddCommand,
        target: Path,
        elsewhere: Settings,
        restored: Database,
    ):
        add_command()
        newest = int(add_command().name.partition("-")[0])
        with database.begin() as connection:
            connection.execute(sa.delete(commands).where(commands.c.id == newest))
            row = dict(connection.execute(sa.select(commands)).mappings().one())
        back_up(service, str(target))
        restore(elsewhere, str(target))
        with restored.begin() as connection:
            del row["id"]
            assert connection.execute(sa.insert(commands).values(row).returning(commands.c.id)).scalar_one() > newest


def test_a_restore_into_postgresql_has_the_same_rows(
    service: Settings,
    database: Database,
    add_command: AddCommand,
    target: Path,
    tmp_path: Path,
    empty_postgres_url: str,
):
    add_command()
    before = rows_of(database, commands)
    back_up(service, str(target))
    settings = Settings(data_dir=tmp_path / "new", database_url=SecretStr(empty_postgres_url))
    restore(settings, str(target))
    after = Database(settings)
    try:
        assert rows_of(after, commands) == before
        identity.check(settings, after)
    finally:
        after.close()
    assert not (settings.data_dir / "service.db").exists()
    settings = settings.model_copy(update={"data_dir": tmp_path / "third"})
    with pytest.raises(BackupFailure, match="is not empty: it has"):
        restore(settings, str(target))
    assert list(settings.data_dir.iterdir()) == []


def test_a_restore_from_a_place_without_a_backup(elsewhere: Settings, target: Path):
    with pytest.raises(BackupFailure, match="there is no such folder"):
        restore(elsewhere, str(target))
    target.mkdir()
    with pytest.raises(BackupFailure, match="no backup of svc-jupyter is there"):
        restore(elsewhere, str(target))


@pytest.mark.parametrize("database_kind", ["sqlite"])
class TestOfTheFiles:
    def test_commands_that_the_copy_of_the_database_does_not_know_are_left_out(
        self, service: Settings, add_command: AddCommand, target: Path, elsewhere: Settings
    ):
        known = add_command()
        newer = known.with_name("99-newer")
        newer.mkdir()
        back_up(service, str(target))
        restore(elsewhere, str(target))
        assert [path.name for path in (elsewhere.commands_dir / "0").iterdir()] == [known.name]

    def test_the_next_backup_reads_only_what_has_changed(
        self, service: Settings, add_command: AddCommand, target: Path, monkeypatch: pytest.MonkeyPatch
    ):
        add_command()
        monkeypatch.setattr(taking, "_SETTLED_NS", -(10**15))  # as if the files had been there for long
        back_up(service, str(target))
        (service.data_dir / "storage" / "large.bin").chmod(0)  # its last change is newer
        (service.data_dir / "storage" / "new.txt").write_text("new")
        read: list[Path] = []
        put = taking.Copier.put
        monkeypatch.setattr(taking.Copier, "put", lambda self, file: (read.append(file), put(self, file))[1])
        back_up(service, str(target))
        assert {file.name for file in read} == {"service.db", "large.bin", "new.txt"}

    def test_a_file_that_changed_at_the_tick_of_its_backup_is_read_again(self, service: Settings, target: Path):
        back_up(service, str(target))
        file = service.data_dir / "storage" / "Zoë ☃.txt"
        file.write_text("SNOW")
        assert back_up(service, str(target)).new_bytes >= len("SNOW")

    def test_a_file_appended_to_meanwhile_is_saved_and_an_overwritten_file_is_reported(
        self, service: Settings, target: Path, monkeypatch: pytest.MonkeyPatch
    ):
        files = {name: service.data_dir / "storage" / name for name in ("grows", "rewritten")}
        for name, file in files.items():
            file.write_bytes(name.encode() + LARGE)
        sent, grows = Target.put, content_name(hashlib.sha256(b"grows" + LARGE).hexdigest())

        def meanwhile(self: Target, name: str, content: Any) -> None:
            if name == grows:  # several threads send: not while another file is sent, before this one is read
                with files["grows"].open("ab") as file:
                    file.write(b"more")
            elif not isinstance(content, bytes):
                with files["rewritten"].open("r+b") as file:
                    file.write(os.urandom(16))
            sent(self, name, content)

        monkeypatch.setattr(Target, "put", meanwhile)
        made = back_up(service, str(target))
        assert made.end.left_out == {"storage/rewritten": "it was overwritten again and again while it was read"}
        sizes = {path.stat().st_size for path in (target / "contents").rglob("*")}
        assert len(b"grows" + LARGE) in sizes

    def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_there(
        self, service: Settings, target: Path, monkeypatch: pytest.MonkeyPatch
    ):
        refused = service.data_dir / "storage" / "large.bin"
        put = taking.Copier.put

        def failing(self: taking.Copier, file: Path) -> tuple[str, int]:
            if file == refused:
                raise OSError(5, "Input/output error")
            return put(self, file)

        monkeypatch.setattr(taking.Copier, "put", failing)
        assert back_up(service, str(target)).end.left_out == {"storage/large.bin": "Input/output error"}

    def test_old_backups_go_with_what_only_they_have(self, service: Settings, target: Path, elsewhere: Settings):
        file = service.data_dir / "storage" / "Zoë ☃.txt"
        made = []
        for text in ("one", "two", "three"):
            file.write_text(text)
            made.append(back_up(service, str(target), keep=2))
        assert [name for name, *_ in backups(elsewhere, str(target))] == [one.name for one in made[1:]]
        assert [one.deleted for one in made] == [0, 0, 1]
        contents = {path.read_bytes() for path in (target / "contents").rglob("*") if path.is_file()}
        assert b"one" not in contents
        assert {b"two", b"three"} <= contents
        restore(elsewhere, str(target), at=made[1].name)
        assert (elsewhere.data_dir / "storage" / "Zoë ☃.txt").read_text() == "two"


@pytest.mark.parametrize("database_kind", ["sqlite"])
class TestOfRefusals:
    def test_a_target_with_other_things_or_of_another_service(self, service: Settings, target: Path):
        (target / "photos").mkdir(parents=True)
        (target / "photos" / "1.png").touch()
        with pytest.raises(BackupFailure, match=r"is not empty: it has photos/1\.png"):
            back_up(service, str(target))
        (target / "svc-jupyter-backups.json").write_text('{"format": 1, "identity": "another"}')
        with pytest.raises(BackupFailure, match="has the backups of another service"):
            back_up(service, str(target))

    def test_a_target_in_the_data_folder_and_a_folder_without_a_service(self, service: Settings, elsewhere: Settings):
        with pytest.raises(BackupFailure, match="is in the data folder itself"):
            back_up(service, str(service.data_dir / "storage" / "backups"))
        with pytest.raises(BackupFailure, match="is not the data folder of a service"):
            back_up(elsewhere, str(elsewhere.data_dir))

    def test_two_backups_at_once(self, service: Settings, target: Path):
        with taking._work_folder(service.data_dir), pytest.raises(BackupFailure, match="another backup of"):
            back_up(service, str(target))

    def test_a_target_that_is_emptied_meanwhile(self, service: Settings, target: Path, monkeypatch: pytest.MonkeyPatch):
        def emptied(self: Target) -> None:
            for path in list((target / "contents").rglob("*")):
                if path.is_file():
                    path.unlink()

        monkeypatch.setattr(Target, "sync", emptied)
        with pytest.raises(BackupFailure, match=r"no longer there, such as service\.db: was the target unmounted"):
            back_up(service, str(target))
        assert not (target / "backups").exists()
        assert not (service.data_dir / "backup").exists()

    def test_a_backup_that_did_not_end(
        self, service: Settings, target: Path, elsewhere: Settings, monkeypatch: pytest.MonkeyPatch
    ):
        def ended(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(taking, "_check", ended)
            with pytest.raises(KeyboardInterrupt):
                back_up(service, str(target))
        with pytest.raises(BackupFailure, match="no backup there is complete"):
            restore(elsewhere, str(target))
        assert not elsewhere.data_dir.exists()
        back_up(service, str(target))
        restore(elsewhere, str(target))

    def test_a_name_that_is_not_there(self, service: Settings, target: Path, elsewhere: Settings):
        back_up(service, str(target))
        with pytest.raises(BackupFailure, match="no complete backup 2020"):
            restore(elsewhere, str(target), at="2020")

    def test_a_missing_and_a_damaged_file(self, service: Settings, target: Path, elsewhere: Settings):
        back_up(service, str(target))
        (content,) = (
            path for path in (target / "contents").rglob("*") if path.is_file() and path.read_bytes() == b"snow"
        )
        content.write_bytes(b"SNOW")
        with pytest.raises(BackupFailure, match=r"is damaged: storage/Zoë ☃\.txt .* is not what was written"):
            restore(elsewhere, str(target))
        assert list(elsewhere.data_dir.iterdir()) == []
        content.unlink()
        with pytest.raises(BackupFailure, match=r"is damaged: storage/Zoë ☃\.txt .* is missing or incomplete"):
            restore(elsewhere, str(target))

    def test_a_damaged_manifest(self, service: Settings, target: Path, elsewhere: Settings):
        back_up(service, str(target))
        file = manifest_of(target)
        whole = file.read_bytes()
        for damaged in (whole[: len(whole) // 2], b"", gzip.compress(b"{}\n")):
            file.write_bytes(damaged)
            with pytest.raises(BackupFailure, match=r"backups/.* is damaged"):
                restore(elsewhere, str(target))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"format": 2}, "has the format 2, and this svc-jupyter reads 1"),
            ({"revision": "9999"}, "which is newer than this one: upgrade this installation first"),
        ],
    )
    def test_another_format_and_a_newer_version(
        self, service: Settings, target: Path, elsewhere: Settings, change: dict[str, object], message: str
    ):
        back_up(service, str(target))
        file = manifest_of(target)
        head, *rest = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
        file.write_bytes(gzip.compress(b"".join([json.dumps(json.loads(head) | change).encode() + b"\n", *rest])))
        with pytest.raises(BackupFailure, match=message):
            restore(elsewhere, str(target))

    def test_a_path_that_leads_out_of_the_folder(self, service: Settings, target: Path, elsewhere: Settings):
        back_up(service, str(target))
        file = manifest_of(target)
        text = gzip.decompress(file.read_bytes()).replace(b'"storage/large.bin"', b'"../../large.bin"')
        file.write_bytes(gzip.compress(text))
        with pytest.raises(BackupFailure, match=r"backups/.* is damaged"):
            restore(elsewhere, str(target))

    def test_a_data_folder_that_is_not_empty_or_in_use(self, service: Settings, target: Path):
        back_up(service, str(target))
        with pytest.raises(BackupFailure, match="is not empty"):
            restore(service, str(target))
        folder = DataFolder(service)
        folder.open()
        try:
            with pytest.raises(DataFolderTakenError, match="a service works on the data folder"):
                restore(service, str(target))
        finally:
            folder.close()

    def test_a_service_on_a_folder_whose_restore_was_killed(
        self, service: Settings, target: Path, elsewhere: Settings, monkeypatch: pytest.MonkeyPatch
    ):
        back_up(service, str(target))

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(restoring, "_fetch_all", killed)
        monkeypatch.setattr(restoring, "_clear", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            restore(elsewhere, str(target))
        with pytest.raises(identity.ForeignDatabaseError, match="restore it from a backup"):
            DataFolder(elsewhere).open()


@pytest.mark.parametrize("database_kind", ["sqlite"])
class TestOfAnObjectStore:
    def test_a_backup_and_its_restore(
        self, service: Settings, add_command: AddCommand, elsewhere: Settings, s3: S3Server
    ):
        add_command()
        keys = {"backup_access_key": SecretStr(s3.access_key), "backup_secret_key": SecretStr(s3.secret_key)}
        store = {**keys, "backup_endpoint": s3.endpoint}
        made = back_up(service.model_copy(update=store), "s3://lake/nightly")
        again = back_up(service.model_copy(update=store), "s3://lake/nightly", keep=1)
        assert (again.deleted, again.end.files) == (1, made.end.files)
        restore(elsewhere.model_copy(update=store), "s3://lake/nightly")
        for name in ("commands", "storage"):
            assert contents_of(elsewhere.data_dir / name) == contents_of(service.data_dir / name)
        assert {key.split("/")[0] for key in s3.keys("")} == {"nightly"}

    def test_wrong_keys_and_a_store_that_is_away(self, service: Settings, s3: S3Server):
        keys = {"backup_access_key": SecretStr(s3.access_key), "backup_secret_key": SecretStr("wrong")}
        store = service.model_copy(update={**keys, "backup_endpoint": s3.endpoint})
        with pytest.raises(BackupFailure, match=r"access denied.*check SVC_BACKUP_ACCESS_KEY"):
            back_up(store, "s3://lake/nightly")
        with pytest.raises(BackupFailure, match="give both access_key and secret_key"):
            back_up(service.model_copy(update={"backup_access_key": SecretStr("a")}), "s3://lake/nightly")
