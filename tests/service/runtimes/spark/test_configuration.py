"""The settings of a Spark cluster: what the service sets, what a user may, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.spark import submitted
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.s3.access import S3Access
from svc_jupyter.service.runtimes.spark import program
from svc_jupyter.service.runtimes.spark.spark_cluster import check

PLACE = program.SparkLayout(
    address="127.0.0.9",
    folder=PurePosixPath("/node"),
    programs=Programs(PurePosixPath("/jdk/bin/java"), [PurePosixPath("/spark/lib/site/pyspark/jars/a.jar")]),
    home=Path("/spark"),
    metastore="thrift://127.0.0.1:9083",
    warehouse="file:/warehouse",
    python=Path("/spark/bin/python"),
)


def configuration(custom, **settings):
    hadoop = {"use_spark": True, "custom_config": custom}
    return ClusterConfiguration.model_validate({"hadoop_settings": hadoop, **settings})


def test_settings_that_would_break_the_cluster_are_refused():
    def refusal(custom):
        with pytest.raises(Invalid) as refused:
            check(configuration(custom))
        return refused.value.message.removeprefix("hadoop_settings.custom_config: ")

    wired = "is set by the service, which wires the cluster's daemons with it: leave it out"
    minutes = "spark.session_server.idle_minutes is a number of minutes above 0"
    refused = {
        "spark.driver.host=1.2.3.4": f"spark.driver.host {wired}",
        "spark.master=spark://elsewhere:7077": (
            "spark.master=spark://elsewhere:7077 is not there: it is yarn, local or local[…]"
        ),
        "spark.session_server.idle_minutes=soon": minutes,
        "spark.session_server.idle_minutes=0": minutes,
        "yarn.resourcemanager.hostname=x": f"yarn.resourcemanager.hostname {wired}",
        "spark.driver.extraJavaOptions=-Da='b": "spark.driver.extraJavaOptions lacks a closing quotation mark",
    }
    assert {custom: refusal(custom) for custom in refused} == refused


def test_hiveserver2_is_no_part_of_a_spark_cluster():
    with pytest.raises(Invalid, match="a part of Hadoop clusters"):
        check(configuration("", hive_settings={"is_hs2_enabled": True}))


def test_the_user_s_settings_win_over_the_usual_ones():
    check(configuration("spark.master=local[*]\nspark.ui.enabled=false"))
    made = program.settings(PLACE, {"spark.master": "local[2]", "spark.executor.memory": "3g", "pig.x": "1"})
    assert (made["spark.master"], made["spark.executor.memory"]) == ("local[2]", "3g")
    assert made["spark.driver.host"] == "127.0.0.9"
    assert "pig.x" not in made
    assert "spark.dynamicAllocation.enabled" not in made


def test_secrets_of_a_configuration_are_in_no_command_line():
    custom = {"spark.hadoop.fs.s3a.secret.key": "hidden-key"}
    files = program.server_files(PLACE, custom, "hidden-secret")
    daemon = program.daemon(PLACE)
    shown = " ".join([*daemon.argv, *daemon.environment.values()])
    assert "hidden" not in shown
    assert b"hidden-key" in files["spark/sessions.conf"]
    assert b"hidden-secret" in files["spark/secret"]
    assert b"hidden" not in files["spark/sessions.json"]


def test_the_options_of_the_drivers_java_are_those_of_the_configuration():
    custom = {"spark.driver.extraJavaOptions": "-Da='b c' -Dd=e"}
    java = json.loads(program.server_files(PLACE, custom, "secret")["spark/sessions.json"])["java"]
    assert java[java.index("-Da=b c") :][:2] == ["-Da=b c", "-Dd=e"]


def with_store():
    settings = {"fs.s3a.impl": "S3A", "hadoop.security.credential.provider.path": "user:///"}
    access = S3Access(settings, {"fs.s3a.bucket.lake.secret.key": "hidden-key"})
    return replace(PLACE, store=access, store_jars=[PurePosixPath("/s3/client.jar")])


def test_the_keys_of_the_account_s_store_are_in_a_file_that_the_driver_reads_alone():
    place = with_store()
    files = program.server_files(place, {}, "secret")
    assert [name for name, content in files.items() if b"hidden-key" in content] == ["spark/storage-secrets"]
    assert program.daemon(place).environment["HADOOP_TOKEN_FILE_LOCATION"] == "/node/spark/storage-secrets"
    assert b"hidden-key" not in submitted.settings(place, {}, "t", None, Path("/attempt"))
    own = submitted.environment(place, {}, Path("/attempt"))
    assert own["HADOOP_TOKEN_FILE_LOCATION"] == "/attempt/storage-secrets"


def test_drivers_and_executors_find_the_store_s_client():
    made = program.settings(with_store(), {"spark.driver.extraClassPath": "/own/*"})
    assert made["spark.hadoop.fs.s3a.impl"] == "S3A"
    assert made["spark.driver.extraClassPath"] == "/own/*:/s3/client.jar"
    assert made["spark.yarn.jars"] == "local:/spark/lib/site/pyspark/jars/*,local:/s3/client.jar"
    assert "/s3/client.jar" in program.java_command(with_store(), "1g")[-1]
    assert not [key for key in program.settings(PLACE, {}) if "s3" in key or key.endswith("extraClassPath")]


def test_a_library_that_spark_has_itself_is_not_brought_again():
    own = [PurePosixPath("/spark/netty-common-4.2.13.Final.jar"), PurePosixPath("/spark/httpcore-4.4.16.jar")]
    jars = [PurePosixPath(f"/s3/{name}") for name in ("netty-common-4.1.0.jar", "s3-2.35.4.jar", "httpcore-4.4.9.jar")]
    assert program.missing_from_spark(jars, own) == [PurePosixPath("/s3/s3-2.35.4.jar")]


def test_a_program_of_its_own_runs_in_its_pool_under_its_tag():
    text = submitted.settings(PLACE, {}, "svc-command-7-1", "etl", Path("/attempt")).decode()
    assert "spark.yarn.queue=etl\n" in text
    assert "spark.yarn.tags=svc-command-7-1\n" in text
    assert "spark.ui.port" not in text


def test_the_reason_of_a_failure_is_what_the_driver_said_last(tmp_path):
    log = tmp_path / "log"
    log.write_text("starting\nTraceback (most recent call last):\n  File x\nValueError: no\n  at a.b.c(D.java)\n")
    assert submitted.failure_text([log], 1, "etl") == "the program exited with code 1\nValueError: no"
    assert "was killed" in submitted.failure_text([log], None, None)


def test_a_pool_that_yarn_has_no_place_for_is_named(tmp_path):
    log = tmp_path / "log"
    log.write_text(
        "YarnException: Failed to submit application_1 to YARN : Reject application rejected by placement rules.\n"
    )
    told = submitted.failure_text([log], 1, "nowhere").splitlines()
    assert told[1] == "pool nowhere has no place in the cluster's fairscheduler_config_xml"
    assert "nowhere" not in submitted.failure_text([log], 1, None)
