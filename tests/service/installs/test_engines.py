from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.service.installs.conftest import PATIENCE, Repository
from tests.service.installs.test_java import java_of, program, quiet

from svc_jupyter.service.installs import engines as engines_module
from svc_jupyter.service.installs.additions import Workshop
from svc_jupyter.service.installs.engine import Engine, class_path
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import CompilationFailed, InUse
from svc_jupyter.service.installs.lock import Lock, parse


@dataclass
class Stamp:
    """An addition that writes a jar and counts how often."""

    name: str = "stamp"
    key: str = "1"
    made: list[Workshop] = field(default_factory=list)
    fails: bool = False

    async def make(self, workshop: Workshop, folder: Path) -> None:
        self.made.append(workshop)
        (folder / f"stamp-{self.key}.jar").touch()
        if self.fails:
            raise CompilationFailed("Stamp.java did not compile")


@pytest.fixture(autouse=True)
def small_locks(monkeypatch: pytest.MonkeyPatch, lock: Lock, repository: Repository) -> dict[str, Lock]:
    """Every engine is a small one: Hadoop is three files, Pig needs it and has one of its own."""
    pig = parse("pig-0.18.0.lock", f"requires hadoop\n{lock.artifacts[0]}\n{repository.add('org/example/pig.jar', 7)}")
    locks = {"hadoop": replace(lock, name="hadoop", version="3.5.0"), "pig": replace(pig, version="0.0.1")}
    monkeypatch.setattr(engines_module, "locked", locks.__getitem__)
    return locks


@pytest.fixture
def java(tmp_path: Path) -> Path:
    return java_of(tmp_path / "java", "17.0.1")


def engines_with(root: Path, repository: Repository, java: Path, *additions: Stamp) -> Engines:
    environment = {"JAVA_HOME": str(java), "PATH": os.environ["PATH"], "HOME": str(root)}
    at_install = {Engine.PIG: additions}
    return Engines(
        root, repository=repository.address, environment=environment, patience=PATIENCE, additions=at_install
    )


async def test_an_engine_has_its_own_jars_then_those_it_requires_then_what_was_made(
    root: Path, repository: Repository, java: Path
):
    stamp = Stamp()
    engines = engines_with(root, repository, java, stamp)
    assert engines.installed(Engine.PIG) is None
    pig = await engines.ensure(Engine.PIG, quiet)
    names = [jar.name for jar in pig.jars]
    assert names == ["b-1.0.jar", "pig.jar", "b-1.0.jar", "a-1.0.jar", "c-1.0.jar", "stamp-1.jar"]
    assert (pig.version, engines.installed(Engine.PIG)) == ("0.0.1", pig)
    assert class_path(pig.jars, Path("/conf")).endswith("stamp-1.jar:/conf")


async def test_an_addition_is_made_once_by_all_who_ask_and_anew_when_its_inputs_change(
    root: Path, repository: Repository, java: Path
):
    stamp = Stamp()
    both = [engines_with(root, repository, java, stamp) for _ in range(2)]
    await asyncio.gather(*(engines.ensure(Engine.PIG, quiet) for engines in both))
    assert len(stamp.made) == 1
    stamp.key = "2"
    assert both[0].installed(Engine.PIG) is None
    await both[1].ensure(Engine.PIG, quiet)
    assert len(stamp.made) == 2


async def test_an_addition_that_fails_leaves_nothing_and_is_tried_again(root: Path, repository: Repository, java: Path):
    engines = engines_with(root, repository, java, Stamp(fails=True))
    with pytest.raises(CompilationFailed):
        await engines.ensure(Engine.PIG, quiet)
    assert engines.installed(Engine.PIG) is None
    assert list((root / "staging").iterdir()) == []
    await engines_with(root, repository, java, Stamp()).ensure(Engine.PIG, quiet)


async def test_without_a_class_archive_the_engine_works_and_says_so_once(
    root: Path, repository: Repository, java: Path, said: list[str]
):
    engines = engines_with(root, repository, java)
    script = (java / "bin" / "java").read_text()
    (java / "bin" / "java").write_text(script.replace("cat", 'case "$1" in -Xshare*) echo no room; exit 1;; esac\ncat'))
    hadoop = await engines.ensure(Engine.HADOOP, said.append)
    assert hadoop.class_archive is None
    assert [line for line in said if "no room" in line and "hadoop works without" in line]
    said.clear()
    await engines.ensure(Engine.HADOOP, said.append)
    assert said == []


async def test_another_java_has_another_class_archive(root: Path, repository: Repository, tmp_path: Path):
    dump = r'for word; do case "$word" in -XX:SharedArchiveFile=*) echo classes > "${word#*=}"; exit;; esac; done'
    archives = []
    for version in ("17.0.1", "17.0.2"):
        home = java_of(tmp_path / version, version)
        told = (home / "bin" / "java").read_text().removeprefix("#!/bin/sh\n")
        (home / "bin" / "java").unlink()
        (home / "bin").rmdir()
        engines = engines_with(root, repository, program(home, f"{dump}\n{told}"))
        hadoop = await engines.ensure(Engine.HADOOP, quiet)
        assert engines.installed(Engine.HADOOP) == hadoop
        archives.append(hadoop.class_archive)
    assert all(archive and archive.is_file() for archive in archives)
    assert len(set(archives)) == 2


async def test_uninstalling_frees_what_only_that_engine_has(root: Path, repository: Repository, java: Path, lock: Lock):
    engines = engines_with(root, repository, java)
    pig = await engines.ensure(Engine.PIG, quiet)
    own = lock.artifacts[0].size
    assert await engines.uninstall(Engine.PIG) == own
    assert (engines.installed(Engine.PIG), pig.home.exists()) == (None, False)
    assert engines.damaged_files(Engine.HADOOP) == []
    assert await engines.uninstall(Engine.PIG) == 0


async def test_an_engine_that_runs_is_not_uninstalled_unless_forced(root: Path, repository: Repository, java: Path):
    engines = engines_with(root, repository, java)
    hadoop = await engines.ensure(Engine.HADOOP, quiet)
    daemon = await asyncio.create_subprocess_exec(
        *("sh", "-c", "read line", f"-cp {class_path(hadoop.jars)}"), stdin=asyncio.subprocess.PIPE
    )
    try:
        with pytest.raises(InUse, match=str(daemon.pid)):
            await engines.uninstall(Engine.HADOOP)
        assert engines.installed(Engine.HADOOP) is not None
        assert await engines.uninstall(Engine.HADOOP, force=True) > 0
        assert engines.installed(Engine.HADOOP) is None
    finally:
        await daemon.communicate(b"\n")


async def test_a_damaged_jar_is_found_and_installing_again_mends_it(root: Path, repository: Repository, java: Path):
    engines = engines_with(root, repository, java)
    hadoop = await engines.ensure(Engine.HADOOP, quiet)
    assert engines.damaged_files(Engine.HADOOP) == []
    hadoop.jars[1].write_bytes(b"short")
    assert engines.damaged_files(Engine.HADOOP) == ["a-1.0.jar"]
    await engines.uninstall(Engine.HADOOP)
    await engines.ensure(Engine.HADOOP, quiet)
    assert engines.damaged_files(Engine.HADOOP) == []
