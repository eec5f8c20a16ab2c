"""The Java of Spark: the class archive is used where its jars can come first, and nowhere else."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.hadoop.spark_driver import java_program


def started(tmp_path: Path, *words: str, class_path: str = "", archive: str | None = "/with space/s.jsa") -> list[str]:
    """Return the class path and the arguments that Java got from the script for these words."""
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$CLASSPATH" "$@"\n')
    java.chmod(0o700)
    jars = [PurePosixPath("/the jars/a.jar"), PurePosixPath("/the jars/b.jar")]
    programs = Programs(PurePosixPath(java), jars, None if archive is None else PurePosixPath(archive))
    script = tmp_path / "script"
    script.write_bytes(java_program(programs))
    argv = ["/bin/sh", str(script), *words]
    return subprocess.run(
        argv, env={"CLASSPATH": class_path}, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def archive_of(arguments: list[str]) -> list[str]:
    return [argument for argument in arguments if argument.startswith("-XX:SharedArchiveFile=")]


def test_the_jars_of_the_archive_come_before_the_settings(tmp_path: Path) -> None:
    class_path, *arguments = started(
        tmp_path, "-Xmx1g", "-cp", "/conf/:/the jars/*:/hadoop/conf:/store/s3.jar", "Main", "-cp"
    )
    assert class_path == "/the jars/a.jar:/the jars/b.jar:/conf/:/hadoop/conf:/store/s3.jar"
    assert archive_of(arguments) == ["-XX:SharedArchiveFile=/with space/s.jsa"]
    assert arguments[-3:] == ["-Xmx1g", "Main", "-cp"]


def test_spark_submit_names_one_of_the_jars_first(tmp_path: Path) -> None:
    words = ("-cp", "/conf/:/the jars/slf4j-api-2.0.17.jar:/the jars/*", "Main")
    class_path, *arguments = started(tmp_path, *words)
    assert class_path == "/the jars/a.jar:/the jars/b.jar:/conf/"
    assert len(archive_of(arguments)) == 1


def test_containers_have_their_class_path_in_a_variable(tmp_path: Path) -> None:
    given = "/c1:/c1/__spark_conf__:/c1/__spark_libs__/*:/the jars/*:/c1/conf"
    class_path, *arguments = started(tmp_path, "Main", class_path=given)
    assert class_path == ("/the jars/a.jar:/the jars/b.jar:/c1:/c1/__spark_conf__:/c1/__spark_libs__/*:/c1/conf")
    assert len(archive_of(arguments)) == 1


def test_jars_that_a_user_puts_before_those_of_spark_stay_there(tmp_path: Path) -> None:
    paths = ("/own.jar:/conf:/the jars/*", "/own/*:/the jars/*", "/conf:/own.jar", "")
    assert [started(tmp_path, "-cp", path, "Main") for path in paths] == [[path, "Main"] for path in paths]


def test_without_an_archive_and_without_the_option_that_not_every_java_knows(tmp_path: Path) -> None:
    words = ("--add-modules=jdk.incubator.vector", "-cp", "/the jars/*", "Main", "two words")
    assert started(tmp_path, *words, archive=None) == ["/the jars/a.jar:/the jars/b.jar", "Main", "two words"]
