from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.db_taps import DbTapCreate, DbTapUpdate
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import accounts
from svc_jupyter.service.schema.db_taps import db_taps as table

PASSWORD = "geheim-42"
WAREHOUSE = {"name": "warehouse", "db_type": "postgresql", "db_host": "db.example", "port": 6000, "db_user": "reader"}
URL = f"mysql://reader:{PASSWORD}@db.example/x"


def create(db_taps: DbTaps, member, **changes):
    body = DbTapCreate.model_validate(WAREHOUSE | {"db_passwd": PASSWORD} | changes)
    return db_taps.create(body, by=member)


def change(db_taps: DbTaps, tap_id: int, member, **changes):
    return db_taps.update(tap_id, DbTapUpdate.model_validate(changes), by=member)


def test_a_tap_is_stored_and_shown_without_its_secrets(db_taps, member):
    tap = create(db_taps, member)
    assert tap.model_dump() == WAREHOUSE | {
        "id": tap.id,
        "db_name": None,
        "active": True,
        "account_id": member.account_id,
        "user_id": member.user_id,
        "created_at": "2030-03-17T17:46:40Z",
    }
    assert db_taps.get(tap.id, by=member) == tap


def test_secrets_are_sealed_in_the_database(db_taps, member, database):
    create(db_taps, member)
    create(db_taps, member, name="other", db_type="url", url=URL)
    with database.connect() as connection:
        stored = str(connection.execute(sa.select(table)).all())
    assert PASSWORD not in stored


async def test_a_worker_gets_the_connection_with_its_secrets(db_taps, member):
    tap = create(db_taps, member)
    opened = await db_taps.opened(member.account_id, tap.id)
    assert (opened.name, opened.connection.address) == ("warehouse", "db.example:6000")
    assert f"password='{PASSWORD}'" in opened.connection.target
    assert PASSWORD not in repr(opened)


def test_a_list_is_newest_first_and_paged(db_taps, member):
    ids = [create(db_taps, member, name=f"tap {number}").id for number in range(3)]
    first, second = (db_taps.list(Page(number, 2), by=member) for number in (1, 2))
    assert [tap.id for tap in first.db_taps + second.db_taps] == ids[::-1]
    assert (first.paging_info.next_page, second.paging_info.next_page) == (2, None)


async def test_a_change_keeps_what_is_not_given(db_taps, member):
    tap = create(db_taps, member)
    assert change(db_taps, tap.id, member, db_name="d") == tap.model_copy(update={"db_name": "d"})
    opened = await db_taps.opened(member.account_id, tap.id)
    assert f"password='{PASSWORD}'" in opened.connection.target


@pytest.mark.parametrize(
    "changes", [{"db_host": "evil.example"}, {"port": 7000}, {"db_type": "mysql"}, {"db_user": "other"}]
)
async def test_a_stored_password_goes_nowhere_else_than_it_was_entered_for(db_taps, member, changes):
    tap = create(db_taps, member)
    with pytest.raises(Invalid, match=f"^db_passwd: {next(iter(changes))} changed: give the password again") as refused:
        change(db_taps, tap.id, member, **changes)
    assert PASSWORD not in str(refused.value)
    assert db_taps.get(tap.id, by=member) == tap
    assert change(db_taps, tap.id, member, db_passwd="other", **changes) != tap
    opened = await db_taps.opened(member.account_id, tap.id)
    assert PASSWORD not in opened.connection.target
    assert "other" in opened.connection.target


async def test_a_tap_goes_elsewhere_without_its_password_on_request(db_taps, member):
    tap = create(db_taps, member)
    change(db_taps, tap.id, member, db_host="evil.example", db_passwd="")
    assert PASSWORD not in (await db_taps.opened(member.account_id, tap.id)).connection.target
    change(db_taps, tap.id, member, db_host="db.example")


async def test_a_detour_over_a_type_without_password_leaves_none(db_taps, member, database):
    tap = create(db_taps, member)
    change(db_taps, tap.id, member, db_type="url", url="mysql://db.example/x")
    with database.connect() as connection:
        assert connection.execute(sa.select(table.c.sealed_password)).scalar_one() is None


async def test_an_empty_text_clears_an_attribute(db_taps, member):
    tap = create(db_taps, member, db_name="d")
    assert change(db_taps, tap.id, member, db_name="", db_passwd="").db_name is None
    assert "password" not in (await db_taps.opened(member.account_id, tap.id)).connection.target


async def test_a_change_of_type_drops_the_url_of_the_former(db_taps, member, database):
    tap = create(db_taps, member, db_type="url", url=URL)
    change(db_taps, tap.id, member, db_type="mysql")
    with database.connect() as connection:
        assert connection.execute(sa.select(table.c.sealed_url)).scalar_one() is None
    assert (await db_taps.opened(member.account_id, tap.id)).connection.address == "db.example:6000"


def test_a_change_that_makes_no_connection_changes_nothing(db_taps, member):
    tap = create(db_taps, member)

    def refusal(changes: dict[str, str]) -> str:
        with pytest.raises(Invalid) as refused:
            change(db_taps, tap.id, member, **changes)
        assert db_taps.get(tap.id, by=member) == tap
        return refused.value.message

    refused = [
        ({"db_type": "oracle"}, "db_type: unknown; known are postgresql, mysql, sqlserver, redshift, sqlite, url"),
        ({"db_host": ""}, "db_host: a postgresql tap needs the host of its database"),
        (
            {"db_type": "url"},
            "url: a tap with db_type url needs one: dialect+driver://user:password@host:port/database",
        ),
        ({"url": URL}, "url: only a tap with db_type url has one"),
    ]
    assert [(changes, refusal(changes)) for changes, _ in refused] == refused


def test_a_name_belongs_to_one_tap_of_an_account(db_taps, member):
    first, other = create(db_taps, member), create(db_taps, member, name="other")
    with pytest.raises(Invalid, match=f"name: DB tap {first.id} is called warehouse already"):
        create(db_taps, member)
    with pytest.raises(Invalid, match="is called warehouse already"):
        change(db_taps, other.id, member, name="warehouse")
    assert change(db_taps, first.id, member, name="warehouse", db_name="d").db_name == "d"


def test_of_calls_at_once_one_gets_the_name(db_taps, member):
    def attempt(_: int) -> bool:
        try:
            create(db_taps, member)
        except Invalid:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(attempt, range(4))) == 1


def test_a_deleted_tap_is_gone(db_taps, member):
    tap = create(db_taps, member)
    db_taps.delete(tap.id, by=member)
    with pytest.raises(NotFound, match=f"there is no DB tap {tap.id}"):
        db_taps.get(tap.id, by=member)
    with pytest.raises(NotFound):
        db_taps.delete(tap.id, by=member)


async def test_another_accounts_taps_are_not_there(db_taps, member, database):
    tap = create(db_taps, member)
    with database.begin() as connection:
        other_account = connection.execute(
            sa.insert(accounts).values(id=99, name="other", features={}).returning(accounts.c.id)
        ).scalar_one()
    other = replace(member, account_id=other_account)
    assert db_taps.list(Page(1, 10), by=other).db_taps == []
    for call in (db_taps.get, db_taps.delete):
        with pytest.raises(NotFound):
            call(tap.id, by=other)
    with pytest.raises(NotFound):
        change(db_taps, tap.id, other, port=1)
    with pytest.raises(NotFound):
        await db_taps.opened(other_account, tap.id)


async def test_an_inactive_tap_takes_no_query(db_taps, member):
    tap = create(db_taps, member, active=False)
    for call in (db_taps.check_usable, db_taps.opened):
        with pytest.raises(Invalid, match=rf"DB tap {tap.id} \(warehouse\) is not active"):
            await call(member.account_id, tap.id)
    assert change(db_taps, tap.id, member, active=True).active
    await db_taps.check_usable(member.account_id, tap.id)


async def test_a_file_is_checked_again_when_it_is_opened(db_taps, member, settings, stored_file):
    tap = create(db_taps, member, db_type="sqlite", db_name=stored_file)
    file = settings.storage_dir / stored_file
    file.unlink()
    file.symlink_to("/etc/passwd")
    with pytest.raises(Invalid, match="outside the folders"):
        await db_taps.opened(member.account_id, tap.id)


async def test_a_secret_whose_key_is_lost_is_reported(db_taps, member, settings, database):
    tap = create(db_taps, member)
    (settings.data_dir / "secret.key").unlink()
    with pytest.raises(Invalid, match=r"secret\.key"):
        await DbTaps(settings, database, SecretBox(settings.data_dir / "secret.key")).opened(member.account_id, tap.id)


def test_a_user_in_no_group_may_nothing(db_taps, member):
    tap = create(db_taps, member)
    stranger = replace(member, groups=frozenset())
    calls = [
        lambda: db_taps.list(Page(1, 10), by=stranger),
        lambda: db_taps.get(tap.id, by=stranger),
        lambda: create(db_taps, stranger, name="x"),
        lambda: change(db_taps, tap.id, stranger, port=1),
        lambda: db_taps.delete(tap.id, by=stranger),
    ]
    for call in calls:
        with pytest.raises(Forbidden, match=BuiltinGroup.USER):
            call()
