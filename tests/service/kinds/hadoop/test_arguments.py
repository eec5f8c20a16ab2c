"""The arguments of a Hadoop command."""

from __future__ import annotations

import pytest

from svc_jupyter.api.commands import HadoopSubCommand
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.hadoop.kind import (
    locations_in,
    program,
    split_arguments,
    with_fetched,
    with_jars,
)

JAR, STREAMING, DISTCP = HadoopSubCommand.JAR, HadoopSubCommand.STREAMING, HadoopSubCommand.DISTCP
S3DISTCP = HadoopSubCommand.S3DISTCP


def test_arguments_are_split_as_a_shell_does() -> None:
    assert split_arguments(STREAMING, "-mapper 'tr \" \" x' -input a\\ b") == ["-mapper", 'tr " " x', "-input", "a b"]


@pytest.mark.parametrize(
    ("sub_command", "text", "why"),
    [
        (JAR, "'open", "cannot be split"),
        (DISTCP, "  ", "is empty"),
        (JAR, "-D a=b", "begins with '-D'"),
        (JAR, "hdfs:///a.jar", "must be in the account's storage"),
        (STREAMING, "a\0b", "NUL"),
        (S3DISTCP, "--src a", "give --src and --dest"),
        (S3DISTCP, "--src a --dest", "give --src and --dest"),
        (S3DISTCP, "--src a --dest b --dest c", "'--dest' is not supported: give --src and --dest, once each"),
        (S3DISTCP, "--src a --dest b --groupBy '.*'", "'--groupBy' is not supported"),
        (S3DISTCP, "a b", "'a' is not supported"),
    ],
)
def test_invalid_arguments_of_a_sub_command_are_refused(sub_command: HadoopSubCommand, text: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        split_arguments(sub_command, text)


def test_the_jar_and_files_of_stores_are_fetched() -> None:
    arguments = ["s3://b/a.jar", "Main", "-files", "hdfs:///x,s3://b/m.py#map.py", "-input", "s3://b/in"]
    found = locations_in(JAR, arguments)
    assert [(place.location, place.fragment) for place in found] == [("s3://b/a.jar", ""), ("s3://b/m.py", "#map.py")]
    changed = with_fetched(arguments, dict(zip(found, ["/f/0/a.jar", "/f/1/m.py"], strict=True)))
    assert changed == ["/f/0/a.jar", "Main", "-files", "hdfs:///x,/f/1/m.py#map.py", "-input", "s3://b/in"]


def test_every_sub_command_has_its_program() -> None:
    assert program(JAR, ["a.jar"]) == ["org.apache.hadoop.util.RunJar", "a.jar"]
    assert program(STREAMING, ["-input"])[0] == "org.apache.hadoop.streaming.HadoopStreaming"
    assert program(DISTCP, ["a", "b"]) == ["org.apache.hadoop.tools.DistCp", "a", "b"]
    for arguments in (["--src", "a=1", "--dest=b"], ["--dest", "b", "--src=a=1"]):
        assert program(S3DISTCP, arguments) == ["org.apache.hadoop.tools.DistCp", "-overwrite", "a=1", "b"]


def test_jars_join_those_that_the_arguments_name() -> None:
    assert with_jars(["-libjars", "a.jar", "-input", "x"], ["b.jar", "c.jar"]) == [
        *("-libjars", "a.jar,b.jar,c.jar", "-input", "x"),
    ]
    assert with_jars(["-libjars", "a.jar"], []) == ["-libjars", "a.jar"]
    assert with_jars(["-input", "x"], ["b.jar"]) == ["-input", "x"]
