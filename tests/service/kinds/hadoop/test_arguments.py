"""The arguments of a Hadoop command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from svc_jupyter.api.commands import HadoopSubCommand
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.hadoop.kind import (
    argv_of,
    locations_in,
    split_arguments,
    with_fetched,
    with_jars,
)

JAR, STREAMING, DISTCP = HadoopSubCommand.JAR, HadoopSubCommand.STREAMING, HadoopSubCommand.DISTCP
S3DISTCP = HadoopSubCommand.S3DISTCP


def test_arguments_are_split_as_a_shell_does() -> None:
    assert split_arguments(STREAMING, "-mapper 'tr \" \" x' -input a\\ b") == ["-mapper", 'tr " " x', "-input", "a b"]


ONCE = "is not supported: give --src and --dest, once each"
INVALID = {
    (JAR, "'open"): "sub_command_args cannot be split as a shell does: no closing quotation",
    (DISTCP, "  "): "sub_command_args is empty: give the sources and the target",
    (JAR, "-D a=b"): (
        "sub_command_args begins with '-D': give the location of a jar, its main class where the jar names none, "
        "and its arguments"
    ),
    (JAR, "hdfs:///a.jar"): "sub_command_args: the jar must be in the account's storage, not in a cluster's HDFS",
    (STREAMING, "a\0b"): "sub_command_args must not contain a NUL character",
    (S3DISTCP, "--src a"): "sub_command_args: give --src and --dest",
    (S3DISTCP, "--src a --dest"): "sub_command_args: give --src and --dest",
    (S3DISTCP, "--src a --dest b --dest c"): f"sub_command_args: '--dest' {ONCE}",
    (S3DISTCP, "--src a --dest b --groupBy '.*'"): f"sub_command_args: '--groupBy' {ONCE}",
    (S3DISTCP, "a b"): f"sub_command_args: 'a' {ONCE}",
}


def test_invalid_arguments_of_a_sub_command_are_refused() -> None:
    def refusal(sub_command: HadoopSubCommand, text: str) -> str:
        with pytest.raises(Invalid) as refused:
            split_arguments(sub_command, text)
        return refused.value.message

    assert {arguments: refusal(*arguments) for arguments in INVALID} == INVALID


def test_the_jar_and_files_of_stores_are_fetched() -> None:
    arguments = ["s3://b/a.jar", "Main", "-files", "hdfs:///x,s3://b/m.py#map.py", "-input", "s3://b/in"]
    found = locations_in(JAR, arguments)
    assert [(place.location, place.fragment) for place in found] == [("s3://b/a.jar", ""), ("s3://b/m.py", "#map.py")]
    changed = with_fetched(arguments, dict(zip(found, ["/f/0/a.jar", "/f/1/m.py"], strict=True)))
    assert changed == ["/f/0/a.jar", "Main", "-files", "hdfs:///x,/f/1/m.py#map.py", "-input", "s3://b/in"]


def test_every_sub_command_has_its_program() -> None:
    assert argv_of(["java"], JAR, ["a.jar"]) == ["java", "org.apache.hadoop.util.RunJar", "a.jar"]
    assert argv_of(["java"], STREAMING, ["-input"])[1] == "org.apache.hadoop.streaming.HadoopStreaming"
    assert argv_of(["java"], DISTCP, ["a", "b"]) == ["java", "org.apache.hadoop.tools.DistCp", "a", "b"]


@pytest.mark.parametrize(
    ("ends", "calls", "code"),
    [
        ({}, ["-test,-f,a=1 b", "-mkdir,-p,c'd", "-overwrite,a=1 b,c'd"], 0),
        ({"-test": 1}, ["-test,-f,a=1 b", "-overwrite,a=1 b,c'd"], 0),
        ({"-mkdir": 3}, ["-test,-f,a=1 b", "-mkdir,-p,c'd"], 3),
        ({"-overwrite": 4}, ["-test,-f,a=1 b", "-mkdir,-p,c'd", "-overwrite,a=1 b,c'd"], 4),
    ],
)
def test_a_file_is_copied_into_a_folder_and_a_folder_as_it_is(
    tmp_path: Path, ends: dict[str, int], calls: list[str], code: int
) -> None:
    client = tmp_path / "client"
    cases = "".join(f"{option}) exit {end};; " for option, end in ends.items())
    script = f'#!/bin/sh\nshift\nIFS=,\necho "$*" >> {tmp_path}/calls\ncase $1 in {cases}*) exit 0;; esac\n'
    client.write_text(script)
    client.chmod(0o700)
    ended = subprocess.run(argv_of([str(client)], S3DISTCP, ["--src", "a=1 b", "--dest=c'd"]), check=False)
    assert ((tmp_path / "calls").read_text().splitlines(), ended.returncode) == (calls, code)


def test_the_source_and_the_target_of_a_copy_come_in_any_order() -> None:
    assert argv_of(["client"], S3DISTCP, ["--dest", "c'd", "--src=a=1 b"]) == argv_of(
        ["client"], S3DISTCP, ["--src", "a=1 b", "--dest=c'd"]
    )


def test_jars_join_those_that_the_arguments_name() -> None:
    assert with_jars(["-libjars", "a.jar", "-input", "x"], ["b.jar", "c.jar"]) == [
        *("-libjars", "a.jar,b.jar,c.jar", "-input", "x"),
    ]
    assert with_jars(["-libjars", "a.jar"], []) == ["-libjars", "a.jar"]
    assert with_jars(["-input", "x"], ["b.jar"]) == ["-input", "x"]
