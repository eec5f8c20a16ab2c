"""The rules of environments; nothing is built here."""

from __future__ import annotations

import dataclasses
import re

import pytest
import sqlalchemy as sa
from pydantic import ValidationError
from tests.service.packages.conftest import PAGE, World

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.account import FeaturesUpdate
from svc_jupyter.api.package_environments import ActivityAction, EnvironmentCreate
from svc_jupyter.service.access.accounts import Accounts
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.schema.audit import audit_entries
from svc_jupyter.service.schema.packages import activities, environments

SPARK = {"hadoop_settings": {"use_spark": True}}
PRESTO = {"presto_settings": {"enable_presto": True}}


def succeed(world: World, activity_id: int, lock: str = "") -> None:
    """Let an activity have succeeded, as the builder does."""
    with world.database.begin() as connection:
        row = connection.execute(
            sa.update(activities)
            .where(activities.c.id == activity_id)
            .values(status="success", lock=lock)
            .returning(activities.c.environment_id)
        ).one()
        connection.execute(
            sa.update(environments).where(environments.c.id == row.environment_id).values(package_id=activity_id)
        )


def test_a_new_environment_waits_to_be_built(idle: World):
    environment_id = idle.create(packages=["six==1.16.0"])
    record = idle.environments.get(environment_id, by=idle.admin)
    assert (record.name, record.env_type, record.status) == ("analysis", "python_package", "waiting")
    assert (record.package_id, idle.packages(environment_id)) == (None, [])
    (row,) = idle.history(environment_id)
    assert (row.action, row.status, row.packages, row.email) == (
        "create",
        "waiting",
        ["six==1.16.0"],
        "admin@localhost",
    )


def test_while_the_feature_is_off_every_call_says_how_it_is_switched_on(idle: World):
    environment_id = idle.create()
    Accounts(idle.database, idle.settings).set_features(FeaturesUpdate(package_management=False), by=idle.admin)
    for call in (
        lambda: idle.environments.list(PAGE, by=idle.admin),
        lambda: idle.create("another"),
        lambda: idle.packages(environment_id),
        lambda: idle.history(environment_id),
        lambda: idle.add(environment_id, "six"),
        lambda: idle.restore(environment_id, 1),
        lambda: idle.environments.attach(environment_id, 1, by=idle.admin),
        lambda: idle.environments.delete(environment_id, by=idle.admin),
    ):
        with pytest.raises(Forbidden, match=re.escape('PUT account/features with {"package_management": true}')):
            call()


def test_a_removal_is_checked_against_all_waiting_changes(idle: World):
    environment_id = idle.create(packages=["six==1.16.0"])
    idle.add(environment_id, "toolz")
    idle.remove(environment_id, "six")
    with pytest.raises(Invalid, match="six was not added to this environment"):
        idle.remove(environment_id, "six")
    assert [row.action for row in idle.history(environment_id)] == ["create", "add", "remove"]


def test_names_are_given_once_and_again_after_a_deletion(idle: World):
    environment_id = idle.create()
    with pytest.raises(Invalid, match=f"environment {environment_id} is called analysis already"):
        idle.create()
    idle.environments.delete(environment_id, by=idle.admin)
    assert idle.create() > environment_id
    with pytest.raises(NotFound, match=f"there is no environment {environment_id}"):
        idle.packages(environment_id)


def test_only_a_success_of_this_environment_and_type_is_restored(idle: World):
    environment_id, other = idle.create(), idle.create("another")
    (first,) = idle.history(environment_id)
    (of_other,) = idle.history(other)
    for package_id, fields, told in (
        (first.id, {}, "is waiting; only one with success"),
        (of_other.id, {}, f"environment {environment_id} has no activity {of_other.id}"),
        (999, {}, "has no activity 999"),
        (first.id, {"env_type": "r_package"}, "env_type: environment 1 is a python_package"),
    ):
        with pytest.raises(Invalid, match=told):
            idle.restore(environment_id, package_id, **fields)
    succeed(idle, first.id)
    restored = idle.restore(environment_id, first.id)
    row = idle.history(environment_id)[-1]
    assert (row.id, row.action, row.status, row.restored_id) == (restored, "restore", "waiting", first.id)


def test_a_cluster_uses_one_environment(idle: World):
    cluster_id, environment_id, other = idle.cluster(), idle.create(), idle.create("another")
    idle.environments.attach(environment_id, cluster_id, by=idle.admin)
    with idle.database.begin() as connection:
        attached = sa.update(environments).where(environments.c.id == environment_id)
        connection.execute(attached.values(cluster_id=cluster_id))
    with pytest.raises(StateConflict, match=f"uses environment {environment_id} \\(analysis\\); detach that first"):
        idle.environments.attach(other, cluster_id, by=idle.admin)
    with pytest.raises(StateConflict, match="detach it first"):
        idle.environments.delete(environment_id, by=idle.admin)
    with pytest.raises(StateConflict, match="attached to no cluster"):
        idle.environments.detach(other, by=idle.admin)
    assert idle.environments.detach(environment_id, by=idle.admin).activity.cluster_id == cluster_id


@pytest.mark.engine
def test_a_cluster_uses_an_environment_of_each_language(idle: World):
    cluster_id, python, r = idle.cluster(**SPARK), idle.create(), idle.create("of r", env_type="r_package")
    for environment_id in (python, r):
        idle.environments.attach(environment_id, cluster_id, by=idle.admin)
        with idle.database.begin() as connection:
            attached = sa.update(environments).where(environments.c.id == environment_id)
            connection.execute(attached.values(cluster_id=cluster_id))
    another = idle.create("another", env_type="r_package")
    with pytest.raises(StateConflict, match=f"uses environment {r} \\(of r\\)"):
        idle.environments.attach(another, cluster_id, by=idle.admin)


@pytest.mark.engine
def test_an_environment_of_r_has_the_r_that_is_here(idle: World):
    record = idle.environments.get(idle.create(env_type="r_package", packages=["data.table>=1.14"]), by=idle.admin)
    assert (record.env_type, record.python_version) == ("r_package", None)
    assert record.r_version is not None
    parts = record.r_version.split(".")
    for number in range(1, len(parts) + 1):
        assert idle.create(f"number {number}", env_type="r_package", r_version=".".join(parts[:number]))
    with pytest.raises(Invalid, match=f"r_version: R 3.0 is not on this machine, R {record.r_version} is"):
        idle.create("of old", env_type="r_package", r_version="3.0")
    with pytest.raises(Invalid, match="'six<2' is not a package of R"):
        idle.create("of python", env_type="r_package", packages=["six<2"])


def test_without_r_the_answer_says_what_to_do(idle: World, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        Invalid, match=re.escape("R is not on this machine (there is no Rscript on the path): install R")
    ):
        idle.create(env_type="r_package")
    assert idle.environments.list(PAGE, by=idle.admin).environments == []


def test_a_cluster_that_cannot_use_it_is_refused(idle: World):
    environment_id = idle.create()
    with pytest.raises(Invalid, match="there is no cluster 999"):
        idle.environments.attach(environment_id, 999, by=idle.admin)
    with pytest.raises(Invalid, match="runs Presto, which uses no packages"):
        idle.environments.attach(environment_id, idle.cluster(**PRESTO), by=idle.admin)


def test_members_make_environments_and_outsiders_do_not(idle: World):
    environment_id = idle.create()
    member = dataclasses.replace(idle.admin, groups=frozenset({BuiltinGroup.USER}))
    outsider = dataclasses.replace(idle.admin, groups=frozenset())
    assert idle.environments.create(EnvironmentCreate(name="of a member"), by=member).id
    with pytest.raises(Forbidden, match="permission to create environment"):
        idle.environments.create(EnvironmentCreate(name="of an outsider"), by=outsider)
    with pytest.raises(Forbidden, match=f"permission to update environment {environment_id}"):
        idle.environments.change(environment_id, ActivityAction.ADD, ["six"], by=outsider)
    assert [row.action for row in idle.history(environment_id)] == ["create"]


def test_lists_are_paged_newest_first(idle: World):
    made = [idle.create(f"number {number}") for number in range(3)]
    page = idle.environments.list(dataclasses.replace(PAGE, size=2), by=idle.admin)
    assert [record.id for record in page.environments] == made[:0:-1]
    assert page.paging_info.next_page == 2


def test_the_audit_log_reports_every_change(idle: World):
    environment_id = idle.create()
    idle.add(environment_id, "six")
    idle.environments.delete(environment_id, by=idle.admin)
    query = sa.select(audit_entries.c.action, audit_entries.c.object_id).where(
        audit_entries.c.resource == "environment"
    )
    with idle.database.connect() as connection:
        entries = connection.execute(query.order_by(audit_entries.c.id)).all()
    assert entries == [("create", "1"), ("add", "1"), ("delete", "1")]


def test_a_field_that_is_wrong_by_itself_is_named():
    def refusal(fields: dict[str, object]) -> tuple[tuple[int | str, ...], str]:
        with pytest.raises(ValidationError) as refused:
            EnvironmentCreate.model_validate({"name": "analysis", **fields})
        [error] = refused.value.errors()
        return error["loc"], error["msg"]

    wrong = [
        ({"env_type": "ruby"}, (("env_type",), "Input should be 'python_package' or 'r_package'")),
        ({"r_version": "4.4"}, ((), "Value error, r_version does not belong to a python_package")),
        ({"python_version": "3.11; rm"}, (("python_version",), r"String should match pattern '^\d+(\.\d+){0,2}$'")),
        ({"packages": ["six"] * 201}, (("packages",), "List should have at most 200 items after validation, not 201")),
        ({"packages": "six"}, (("packages",), "Input should be a valid list")),
    ]
    assert [(fields, refusal(fields)) for fields, _ in wrong] == wrong
