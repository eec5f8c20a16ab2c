from __future__ import annotations

from pathlib import PurePosixPath

from svc_jupyter.service.runtimes.hadoop.daemons import (
    HadoopDaemon,
    Programs,
    daemon_of,
    java_command,
    small_files,
    task_options,
)

FOLDER = PurePosixPath("/node")
PROGRAMS = Programs(
    PurePosixPath("/jvm/bin/java"),
    [PurePosixPath("/hadoop/lib/a.jar"), PurePosixPath("/hadoop/lib/b.jar"), PurePosixPath("/hadoop/more/c.jar")],
    PurePosixPath("/hadoop/archive.jsa"),
)


def test_the_jars_come_first_and_the_settings_last_so_that_the_class_archive_fits():
    command = java_command(HadoopDaemon.NODE_MANAGER, PROGRAMS, "127.3.4.11", FOLDER)
    assert command[command.index("-cp") + 1] == "/hadoop/lib/a.jar:/hadoop/lib/b.jar:/hadoop/more/c.jar:/node/conf"
    assert "-XX:SharedArchiveFile=/hadoop/archive.jsa" in command
    assert command[-1].endswith(".NodeManager")


def test_without_an_archive_there_is_no_option_for_one():
    programs = Programs(PROGRAMS.java, PROGRAMS.jars)
    assert not [
        word for word in java_command(HadoopDaemon.DATA_NODE, programs, "127.3.4.1", FOLDER) if "Archive" in word
    ]


def test_containers_find_java_jars_and_settings_by_what_a_nodemanager_hands_on():
    environment = daemon_of(HadoopDaemon.NODE_MANAGER, PROGRAMS, "127.3.4.11", FOLDER, "me").environment
    assert environment["JAVA_HOME"] == "/jvm"
    assert environment["HADOOP_CONF_DIR"] == "/node/conf"
    assert environment["HADOOP_COMMON_HOME"] == "/hadoop/lib"
    assert environment["HADOOP_YARN_HOME"] == "/hadoop/more"


def test_web_pages_that_the_jar_lacks_are_stubs():
    assert {name for name in small_files() if "webapps" in name} == {
        f"conf/webapps/{name}/WEB-INF/web.xml" for name in ("hdfs", "datanode", "static")
    }


def test_programs_of_jobs_start_from_the_archive_with_their_own_files_behind_the_jars():
    options = task_options(PROGRAMS).split()
    assert "-XX:SharedArchiveFile=/hadoop/archive.jsa" in options
    assert options[options.index("-cp") + 1] == "/hadoop/lib/a.jar:/hadoop/lib/b.jar:/hadoop/more/c.jar:$CLASSPATH"
    assert task_options(Programs(PROGRAMS.java, PROGRAMS.jars)) == ""
