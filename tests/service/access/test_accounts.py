import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from svc_jupyter.api.account import Features, FeaturesUpdate
from svc_jupyter.service.access.accounts import Accounts, ensure_account
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.schema.access import accounts, groups, memberships, users
from svc_jupyter.service.schema.storage import account_storage

OFF = Features(jupyter_notebooks=False, package_management=False)
ON = Features(jupyter_notebooks=True, package_management=True)


def counts(database):
    with database.connect() as connection:
        return [
            connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in (accounts, groups, users, memberships)
        ]


def start(database, settings):
    with database.begin() as connection:
        return ensure_account(connection, settings)


def test_a_first_start_makes_the_account_its_groups_and_an_administrator(database, settings):
    assert start(database, settings) == 1
    with database.connect() as connection:
        assert connection.execute(sa.select(accounts.c.name)).scalar_one() == "default"
        member = sa.select(users.c.email, users.c.enabled, groups.c.name).select_from(
            users.join(memberships, memberships.c.user_id == users.c.id).join(
                groups, groups.c.id == memberships.c.group_id
            )
        )
        assert connection.execute(member).all() == [("admin@localhost", True, "system-admin")]
        names = connection.execute(sa.select(groups.c.name).order_by(groups.c.name)).scalars().all()
    assert names == ["system-admin", "system-user"]


def test_a_later_start_adds_nothing(database, settings):
    start(database, settings)
    before = counts(database)
    start(database, settings)
    assert counts(database) == before == [1, 2, 1, 1]


def test_a_later_start_does_not_bring_back_a_renamed_administrator(database, settings):
    start(database, settings)
    with database.begin() as connection:
        connection.execute(sa.update(users).values(email="ada@example.org", enabled=False))
    start(database, settings)
    assert counts(database) == [1, 2, 1, 1]


def test_replicas_that_start_at_once_end_up_with_one_account(database, settings):
    replicas = [Database(settings) for _ in range(4)]
    together = threading.Barrier(len(replicas))

    def start_together(replica):
        together.wait(timeout=30)
        return start(replica, settings)

    try:
        with ThreadPoolExecutor(len(replicas)) as pool:
            assert list(pool.map(start_together, replicas)) == [1] * len(replicas)
    finally:
        for replica in replicas:
            replica.close()
    assert counts(database) == [1, 2, 1, 1]


def test_features_are_off_where_a_service_is_set_up(database, settings):
    assert Accounts(database, settings).features(start(database, settings)) == OFF


def test_features_are_on_in_the_embedded_service_and_stay_on(database, settings):
    account_id = start(database, settings.model_copy(update={"embedded": True}))
    start(database, settings)
    assert Accounts(database, settings).features(account_id) == ON


def test_an_embedded_start_leaves_what_an_administrator_decided(database, settings, admin):
    Accounts(database, settings).set_features(FeaturesUpdate(package_management=False), by=admin)
    start(database, settings.model_copy(update={"embedded": True}))
    features = Accounts(database, settings).features(admin.account_id)
    assert features == Features(jupyter_notebooks=True, package_management=False)


def test_a_change_of_features_leaves_the_others(access, admin):
    access.accounts.set_features(FeaturesUpdate(jupyter_notebooks=True), by=admin)
    assert access.accounts.set_features(FeaturesUpdate(package_management=True), by=admin) == ON
    assert access.accounts.features(admin.account_id) == ON
    assert access.accounts.set_features(FeaturesUpdate(jupyter_notebooks=False), by=admin) == Features(
        jupyter_notebooks=False, package_management=True
    )
    assert access.accounts.set_features(FeaturesUpdate(), by=admin).package_management


def test_only_an_administrator_changes_features(access, member):
    with pytest.raises(Forbidden, match="system-admin"):
        access.accounts.set_features(FeaturesUpdate(jupyter_notebooks=True), by=member)
    assert access.accounts.features(member.account_id) == OFF


def test_changes_of_features_at_once_are_all_kept(access, admin):
    updates = [FeaturesUpdate(jupyter_notebooks=True), FeaturesUpdate(package_management=True)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda update: access.accounts.set_features(update, by=admin), updates))
    assert access.accounts.features(admin.account_id) == ON


def test_the_account_says_who_the_caller_is(access, member, settings):
    account = access.accounts.account(member)
    assert (account.id, account.name) == (1, "default")
    assert (account.user_id, account.email) == (member.user_id, "member@example.org")
    assert account.groups == ["system-user"]
    assert account.features == OFF
    assert account.storage_url == f"file://{settings.storage_dir}"
    assert account.concurrent_command_limit == settings.running_limit


def test_the_account_shows_the_storage_that_was_set(access, admin, database):
    with database.begin() as connection:
        connection.execute(sa.insert(account_storage).values(account_id=1, url="s3://bucket/team"))
    assert access.accounts.account(admin).storage_url == "s3://bucket/team"
