from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.support.engines import java_for_tests

from svc_jupyter.service.installs.download import Patience
from svc_jupyter.service.installs.failures import JavaUnusable
from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.java import JavaHome, ask, candidates, parse_properties
from svc_jupyter.service.installs.java_homes import JavaHomes

OF_17 = """Property settings:
    java.home = /usr/lib/jvm/java-17
    java.vendor.url.bug =
    java.version = 17.0.15
    java.vm.name = OpenJDK 64-Bit Server VM
    java.vm.vendor = Example
    java.vm.version = 17.0.15+6
openjdk version "17.0.15" 2025-04-15
"""


def quiet(_line: str) -> None:
    pass


def program(folder: Path, script: str) -> Path:
    """Write a program named java; return the folder above its bin."""
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return folder


def java_of(folder: Path, version: str) -> Path:
    """Write a program that says that it is a Java of this version."""
    text = OF_17.replace("17.0.15", version).replace("/usr/lib/jvm/java-17", str(folder))
    return program(folder, f"cat >&2 <<'.'\n{text}.")


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "engines", str, Patience())


def test_the_major_version_is_the_first_number():
    majors = {"17.0.15": 17, "21": 21, "25-ea": 25, "1.8.0_452": 1, "11.0.13.1": 11}
    javas = {version: parse_properties(OF_17.replace("17.0.15", version)) for version in majors}
    assert {version: java and (java.major, java.version, java.home) for version, java in javas.items()} == {
        version: (major, version, Path("/usr/lib/jvm/java-17")) for version, major in majors.items()
    }


def test_other_programs_are_no_java():
    assert parse_properties("usage: java [-options]\n") is None


def test_another_build_of_the_same_version_has_another_key():
    one = JavaHome(Path("/java"), 17, "17.0.15", "VM 17.0.15+6 Example")
    assert one.key != JavaHome(Path("/java"), 17, "17.0.15", "VM 17.0.15+7 Example").key


def test_java_home_goes_before_the_path(tmp_path: Path):
    home, on_path = java_of(tmp_path / "home", "17.0.1"), java_of(tmp_path / "path", "17.0.2")
    found = candidates({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})
    assert [candidate.program for candidate in found] == [home / "bin" / "java", on_path / "bin" / "java"]


async def test_a_java_of_another_version_or_one_that_fails_is_passed_over(tmp_path: Path, installation: Installation):
    old, broken, right = tmp_path / "old", tmp_path / "broken", tmp_path / "right"
    java_of(old, "1.8.0_452"), program(broken, "echo cannot load libjvm; exit 1"), java_of(right, "21.0.2")
    path = str(right / "bin")
    for home in (old, broken):
        java = await JavaHomes(installation, {"JAVA_HOME": str(home), "PATH": path}).find(quiet)
        assert (java.home, java.major) == (right, 21)


async def test_a_program_that_is_no_java_is_reported_with_what_it_said(tmp_path: Path):
    home = program(tmp_path / "java", "echo cannot load libjvm; exit 1")
    with pytest.raises(JavaUnusable, match="cannot load libjvm"):
        await ask(home / "bin" / "java")
    with pytest.raises(JavaUnusable, match="cannot be run"):
        await ask(tmp_path / "nowhere")


async def test_a_java_that_was_found_is_known_to_others_without_a_new_search(
    tmp_path: Path, installation: Installation
):
    environment = {"JAVA_HOME": str(java_of(tmp_path / "java", "17.0.1")), "PATH": ""}
    assert JavaHomes(installation, environment).known() is None
    found = await JavaHomes(installation, environment).find(quiet)
    assert JavaHomes(installation, environment).known() == found
    assert JavaHomes(installation, {"PATH": ""}).known() is None


async def test_where_there_is_no_java_one_is_installed_that_runs(installation: Installation, said: list[str]):
    nowhere = {"PATH": "", "JAVA_HOME": ""}
    java = await JavaHomes(installation, nowhere).find(said.append)
    assert (java.major, installation.root in java.home.parents) == (17, True)
    assert said == ["installing Java 17: neither JAVA_HOME nor the path has one that the engines run on"]
    again = await JavaHomes(installation, nowhere).find(said.append)
    assert (again, len(said)) == (java, 1)
    assert list((installation.root / "staging").iterdir()) == []


def test_the_java_of_this_machine_is_found_and_runs():
    java = java_for_tests()
    assert os.access(java.java, os.X_OK)
    assert shutil.which("java", path=str(java.home / "bin")) == str(java.java)
