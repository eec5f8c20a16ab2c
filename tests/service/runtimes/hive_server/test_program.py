"""HiveServer2's command line and settings."""

from __future__ import annotations

from pathlib import PurePosixPath

from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.hive_server.program import daemon, forbidden, settings_files
from svc_jupyter.service.runtimes.s3.access import S3Access

FOLDER, JAVA = PurePosixPath("/node"), PurePosixPath("/java/bin/java")
PROGRAMS = Programs(JAVA, [PurePosixPath("/spark/a.jar"), PurePosixPath("/spark/b.jar")])


def argv(custom: dict[str, str]) -> list[str]:
    return list(daemon(JAVA, PROGRAMS.jars, "127.1.2.1", FOLDER, "file:/warehouse", custom).argv)


def test_it_listens_at_the_nodes_own_address() -> None:
    assert "-Dspark.driver.bindAddress=127.1.2.1" in argv({})
    site = settings_files("127.1.2.1", FOLDER, "thrift://127.0.0.1:9083", {}, S3Access(), PROGRAMS)[
        "conf/hive-server/hive-site.xml"
    ]
    assert b"<value>127.1.2.1</value>" in site


def test_a_session_that_ends_does_not_remove_the_folder_of_one_that_begins() -> None:
    site = settings_files("a", FOLDER, "b", {}, S3Access(), PROGRAMS)["conf/hive-server/hive-site.xml"]
    assert b"<value>/node/tmp/hive-resources/${hive.session.id}</value>" in site


def test_a_clusters_settings_reach_it() -> None:
    of_java = {"spark.driver.memory": "2g", "spark.driver.extraJavaOptions": "-Da='b c' -Dd=e"}
    made = argv({"spark.master": "yarn", "mapreduce.x": "1", **of_java})
    assert "-Dspark.master=yarn" in made
    assert {"-Xmx2g", "-Da=b c", "-Dd=e"} <= set(made)
    assert not [argument for argument in made if any(part in argument for part in ("mapreduce.x", *of_java))]
    site = settings_files("a", FOLDER, "b", {"hive.exec.dynamic.partition.mode": "strict"}, S3Access(), PROGRAMS)
    assert b"<value>strict</value>" in site["conf/hive-server/hive-site.xml"]


def test_its_wiring_cannot_be_changed() -> None:
    wanted = {"spark.master": "yarn", "spark.ui.port": "1", "hive.metastore.uris": "thrift://other:1"}
    assert forbidden(wanted) == ["spark.ui.port", "hive.metastore.uris"]
    assert "-Dspark.ui.port=4040" in argv(wanted)


def test_on_yarn_its_containers_find_their_jars_and_a_java_on_their_machine() -> None:
    made = argv({"spark.master": "yarn", "spark.executor.memory": "1g"})
    assert "-Dspark.yarn.jars=local:/spark/*" in made
    assert "-Dspark.executorEnv.JAVA_HOME=/node/conf/hive-server/java" in made
    assert "-Dspark.executor.memory=1g" in made
    files = settings_files("a", FOLDER, "b", {"spark.master": "yarn"}, S3Access(), PROGRAMS)
    assert b'exec /java/bin/java "$@"' in files["conf/hive-server/java/bin/java"]
    assert not [argument for argument in argv({}) if "executor.memory" in argument]


def test_the_jars_are_named_by_their_folders() -> None:
    class_path = argv({})[argv({}).index("-cp") + 1]
    assert class_path == "/node/conf/hive-server:/node/conf:/spark/*"
