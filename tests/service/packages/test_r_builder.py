"""Environments of R built by the real R from a repository of our own, swapped, gone back to and removed."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.service.packages.conftest import NewWorld, World, started
from tests.service.packages.r_repository import RRepository, svc_packages, waiting_for
from tests.support.until import until, written

from svc_jupyter.api.package_environments import EnvironmentType, PackageActivity
from svc_jupyter.service.packages.installer import BuildFailure
from svc_jupyter.service.packages.r_packages import RPackages, library_of
from svc_jupyter.service.schema.packages import environments

pytestmark = pytest.mark.engine
on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
NOWHERE = 'options(repos = c(CRAN = "http://someone:hunter2@127.0.0.1:9/cran"))\n'
"""A repository that does not answer: nothing listens there."""
Packages = Callable[..., RPackages]


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> RRepository:
    return svc_packages(tmp_path_factory.mktemp("r-repository"))


@pytest.fixture
def own_repository(tmp_path: Path) -> RRepository:
    """As `repository`, for a test that adds to it."""
    return svc_packages(tmp_path / "repository")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is installed once is not installed again by each test."""
    return tmp_path_factory.mktemp("r-cache")


@pytest.fixture
def of(cache: Path) -> Packages:
    """Makes installers that know the repository of a profile."""

    def of(profile: Path, cache: Path = cache) -> RPackages:
        return RPackages({**os.environ, "R_PROFILE_USER": str(profile)}, cache)

    return of


@pytest.fixture
async def world(new_world: NewWorld, of: Packages, repository: RRepository) -> World:
    return await started(new_world(r=of(repository.profile)))


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    profile = tmp_path / "nowhere.R"
    profile.write_text(NOWHERE)
    return profile


def made(world: World, *packages: str, name: str = "of r", **fields: str) -> int:
    return world.create(name, env_type="r_package", packages=list(packages), **fields)


def restore(world: World, environment_id: int, package_id: int) -> int:
    return world.restore(environment_id, package_id, env_type="r_package")


def succeeded(row: PackageActivity) -> PackageActivity:
    assert row.status == "success", row.message
    return row


def said(library: Path, program: str) -> str:
    """Return what a program in R prints that has a library before its own."""
    ended = subprocess.run(
        ["Rscript", "-e", program],
        env={**os.environ, "R_LIBS": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


def folder_of(world: World, row: PackageActivity) -> Path:
    return world.settings.data_dir / "environments" / str(row.env_id) / f"{row.id}-1"


async def test_packages_are_added_and_gone_back_to(world: World):
    environment_id = made(world, "svcbase==1.0", "svc.Middle==1.0")
    first = succeeded(await world.ended(environment_id))
    assert first.lock == world.packages(environment_id) == ["svc.Middle==1.0", "svcbase==1.0"]
    world.add(environment_id, "svcTop.level", "svcbase>=1.1", "svcnative")
    added = succeeded(await world.ended(environment_id))
    assert added.message is not None
    assert added.message.startswith("svcTop.level 2.0 added, svcnative 1.0 added, svcbase 1.0 → 1.1 (")
    listed = world.environments.packages(environment_id, by=world.admin)
    assert listed.packages == {"r": ["svc.Middle==1.0", "svcTop.level==2.0", "svcbase==1.1", "svcnative==1.0"]}
    program = "cat(svcTop.level::top(), svcnative::double_it(21))"
    assert said(library_of(folder_of(world, added)), program) == "MIDDLE OVER BASE 1.1 42"
    restore(world, environment_id, first.id)
    restored = succeeded(await world.ended(environment_id))
    assert (restored.lock, world.packages(environment_id)) == (first.lock, first.lock)
    assert said(library_of(folder_of(world, restored)), "cat(svc.Middle::middle())") == "middle over base 1.0"


@on_sqlite
async def test_a_package_comes_with_what_it_needs_and_goes_with_it(world: World):
    environment_id = made(world, "svcTop.level")
    assert succeeded(await world.ended(environment_id)).lock == [
        "svc.Middle==1.2-3",
        "svcTop.level==2.0",
        "svcbase==1.1",
    ]
    assert world.packages(environment_id) == ["svcTop.level==2.0"]
    world.remove(environment_id, "svcTop.level")
    assert succeeded(await world.ended(environment_id)).lock == []
    world.add(environment_id, "svcbase")
    assert succeeded(await world.ended(environment_id)).message.startswith("1 packages installed")


@on_sqlite
async def test_an_installed_version_stays_unless_another_package_needs_a_newer_version(world: World):
    environment_id = made(world, "svcbase==1.0")
    await world.ended(environment_id)
    world.add(environment_id, "svcbase")
    assert succeeded(await world.ended(environment_id)).lock == ["svcbase==1.0"]
    world.add(environment_id, "svc.Middle")
    assert succeeded(await world.ended(environment_id)).lock == ["svc.Middle==1.2-3", "svcbase==1.1"]


@on_sqlite
@pytest.mark.parametrize(
    ("packages", "told"),
    [
        (["svcbase==9.9"], "there is no svcbase 9.9 in file://"),
        (["svc.nowhere"], "there is no svc.nowhere in file://"),
        (["SVCBASE"], "there is no SVCBASE in file://"),
        (["svcbase==1.0", "svc.Middle==1.2-3"], "svc.Middle needs svcbase >= 1.1"),
        (["svcbase>=7"], "what is asked for needs svcbase >= 7"),
        (["stats"], "stats is a part of R itself"),
    ],
)
async def test_a_change_that_fails_changes_nothing_and_says_why(world: World, packages: list[str], told: str):
    environment_id = made(world, "svcbase")
    first = await world.ended(environment_id)
    world.add(environment_id, *packages)
    failed = await world.ended(environment_id)
    assert (failed.action, failed.status, failed.lock) == ("add", "failed", [])
    assert told in str(failed.message)
    assert world.packages(environment_id) == ["svcbase==1.1"]
    assert world.environments.get(environment_id, by=world.admin).package_id == first.id
    await until(lambda: world.folders() == {f"{first.id}-1"})


@on_sqlite
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"files": {"src/broken.c": "#error no compiler for the moon\n"}}, "no compiler for the moon"),
        ({"code": ".onLoad <- function(libname, pkgname) stop('not today')\n"}, "not today"),
        ({"code": "this is not a R\n"}, "unexpected symbol"),
    ],
)
async def test_a_package_that_does_not_build_fails_in_the_words_of_its_build(
    new_world: NewWorld, of: Packages, own_repository: RRepository, fields, told: str
):
    own_repository.add("svcbroken", **fields)
    own_repository.add("svcAbove", Imports="svcbroken, svcbase")
    world = await started(new_world(r=of(own_repository.profile)))
    failed = await world.ended(made(world, "svcAbove"))
    assert failed.status == "failed"
    assert told in str(failed.message)
    await until(lambda: world.folders() == set())


async def test_packages_in_other_libraries_are_ignored(
    of: Packages, own_repository: RRepository, cache: Path, tmp_path: Path
):
    version = said(tmp_path, "cat(as.character(getRversion()))")
    other = tmp_path / "other"
    await of(own_repository.profile).build(other, version, ["svcbase"], lock=None, keep=None)
    own_repository.add("svcsilent", code=".onLoad <- function(libname, pkgname) svcbase::greeting()\n")
    libraries = {"R_LIBS": str(library_of(other)), "R_LIBS_USER": str(library_of(other))}
    inherited = {**os.environ, "R_PROFILE_USER": str(own_repository.profile), **libraries}
    with pytest.raises(BuildFailure, match="there is no package called"):
        await RPackages(inherited, cache).build(tmp_path / "it", version, ["svcsilent"], lock=None, keep=None)


@on_sqlite
async def test_packages_that_need_each_other_are_refused(
    new_world: NewWorld, of: Packages, own_repository: RRepository
):
    own_repository.add("svcegg", Imports="svchen")
    own_repository.add("svchen", Imports="svcegg")
    world = await started(new_world(r=of(own_repository.profile)))
    failed = await world.ended(made(world, "svcegg"))
    assert failed.status == "failed"
    assert "need each other" in str(failed.message)


@on_sqlite
async def test_going_back_needs_no_repository(
    new_world: NewWorld, of: Packages, repository: RRepository, nowhere: Path
):
    online = await started(new_world(r=of(repository.profile)))
    environment_id = made(online, "svcTop.level", "svcnative")
    first = succeeded(await online.ended(environment_id))
    await online.builder.stop()
    offline = await started(new_world(r=of(nowhere)))
    restore(offline, environment_id, first.id)
    assert succeeded(await offline.ended(environment_id)).lock == first.lock


@on_sqlite
async def test_without_the_cache_going_back_fetches_what_the_lock_names_and_nothing_else(
    new_world: NewWorld, of: Packages, own_repository: RRepository, nowhere: Path, tmp_path: Path
):
    online = await started(new_world(r=of(own_repository.profile)))
    environment_id = made(online, "svcbase==1.0")
    first = succeeded(await online.ended(environment_id))
    online.add(environment_id, "svcbase==1.1")
    second = succeeded(await online.ended(environment_id))
    await online.builder.stop()

    offline = await started(new_world(r=of(nowhere, tmp_path / "empty")))
    restore(offline, environment_id, first.id)
    unreachable = await offline.ended(environment_id)
    assert (unreachable.action, unreachable.status, unreachable.lock) == ("restore", "failed", [])
    assert "svcbase 1.0 could not be fetched from http://127.0.0.1:9/cran" in str(unreachable.message)
    assert "hunter2" not in str(unreachable.message)
    await offline.builder.stop()

    elsewhere = await started(new_world(r=of(own_repository.profile, tmp_path / "another")))
    restore(elsewhere, environment_id, first.id)
    assert succeeded(await elsewhere.ended(environment_id)).lock == first.lock
    own_repository.add("svcbase", "1.1", code='greeting <- function() "another 1.1"\n')
    restore(elsewhere, environment_id, second.id)
    replaced = await elsewhere.ended(environment_id)
    assert replaced.status == "failed"
    assert "svcbase 1.1 of the repository is another than the one in the lock" in str(replaced.message)
    assert elsewhere.packages(environment_id) == ["svcbase==1.0"]
    statuses = [(row.action, row.status) for row in elsewhere.history(environment_id)]
    assert statuses == [
        ("create", "success"),
        ("add", "success"),
        ("restore", "failed"),
        ("restore", "success"),
        ("restore", "failed"),
    ]


@on_sqlite
async def test_damaged_files_in_the_cache_are_made_again(
    new_world: NewWorld, of: Packages, repository: RRepository, tmp_path: Path
):
    cache = tmp_path / "cache"
    world = await started(new_world(r=of(repository.profile, cache)))
    environment_id = made(world, "svcTop.level")
    first = succeeded(await world.ended(environment_id))
    for file in cache.rglob("svcbase.rdx"):
        file.unlink()
    for file in (cache / "sources").iterdir():
        file.unlink()
        file.write_bytes(b"not a source")
    restore(world, environment_id, first.id)
    restored = succeeded(await world.ended(environment_id))
    assert said(library_of(folder_of(world, restored)), "cat(svcTop.level::top())") == "MIDDLE OVER BASE 1.1"
    restore(world, environment_id, first.id)
    again = succeeded(await world.ended(environment_id))
    assert said(library_of(folder_of(world, again)), "cat(svcTop.level::top())") == "MIDDLE OVER BASE 1.1"


@on_sqlite
async def test_builds_at_once_share_the_cache(
    new_world: NewWorld, of: Packages, repository: RRepository, tmp_path: Path
):
    world = await started(new_world(r=of(repository.profile, tmp_path / "cache")))
    first, second = made(world, "svcbase", name="first"), made(world, "svcbase", name="second")
    rows = await asyncio.gather(world.ended(first), world.ended(second))
    assert [succeeded(row).lock for row in rows] == [["svcbase==1.1"]] * 2
    assert len(list((tmp_path / "cache" / "installed").iterdir())) == 1


@on_sqlite
async def test_the_password_of_a_repository_is_in_no_message(new_world: NewWorld, of: Packages, nowhere: Path):
    world = await started(new_world(r=of(nowhere)))
    failed = await world.ended(made(world, "svcbase"))
    assert failed.status == "failed"
    assert "unable to access index for repository http://127.0.0.1:9/cran" in str(failed.message)
    assert "hunter2" not in str(failed.message)


@on_sqlite
async def test_whoever_began_with_a_version_keeps_it_until_the_end(world: World):
    environment_id = made(world, "svcbase==1.0")
    await world.ended(environment_id)
    cluster_id = world.cluster()
    world.environments.attach(environment_id, cluster_id, by=world.admin)
    succeeded(await world.ended(environment_id))
    command_id = world.command()
    before = await world.attached.of_cluster(cluster_id, EnvironmentType.R, command_id=command_id)
    assert before is not None
    assert await world.attached.of_cluster(cluster_id, command_id=command_id) is None, "Python has none"
    world.add(environment_id, "svcbase==1.1")
    succeeded(await world.ended(environment_id))
    after = await world.attached.of_cluster(cluster_id, EnvironmentType.R, command_id=world.command())
    assert after is not None
    assert said(Path(before.variables["R_LIBS"]), "cat(svcbase::greeting())") == "base 1.0"
    assert said(Path(after.variables["R_LIBS"]), "cat(svcbase::greeting())") == "base 1.1"
    world.command_ends(command_id)
    await until(lambda: not before.folder.exists())
    assert after.folder.exists()


@on_sqlite
async def test_a_build_ends_with_its_environment(
    new_world: NewWorld, of: Packages, own_repository: RRepository, tmp_path: Path
):
    begun, never = tmp_path / "begun", tmp_path / "never"
    own_repository.add("svcslow", code=waiting_for(never, begun))
    world = await started(new_world(r=of(own_repository.profile)))
    environment_id = made(world, "svcslow")
    await written(begun)
    world.environments.delete(environment_id, by=world.admin)
    pid = int(begun.read_text())
    await until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid))
    await until(lambda: world.folders() == set())


@on_sqlite
async def test_packages_of_another_r_are_not_built_with_the_one_that_is_here(world: World):
    environment_id = made(world, "svcbase")
    await world.ended(environment_id)
    with world.database.begin() as connection:
        connection.execute(sa.update(environments).values(language_version="3.0.2"))
    world.add(environment_id, "svcnative")
    failed = await world.ended(environment_id)
    assert failed.status == "failed"
    assert "this is an environment of R 3.0.2, this machine has R " in str(failed.message)


async def test_a_folder_with_a_space_is_no_obstacle(of: Packages, repository: RRepository, tmp_path: Path):
    folder = tmp_path / "with a space"
    version = said(tmp_path, "cat(as.character(getRversion()))")
    packages = of(repository.profile, tmp_path / "a cache")
    await packages.build(folder, version, ["svcnative", "svc.Middle"], lock=None, keep=None)
    assert sorted(path.name for path in folder.iterdir()) == ["library", "packages.lock"]
    assert said(library_of(folder), "cat(svcnative::double_it(4), svc.Middle::middle())") == "8 middle over base 1.1"


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
