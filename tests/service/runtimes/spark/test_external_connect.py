"""Connecting to Spark Connect servers that others run: addresses, tokens, versions, and what cannot run there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from tests.support.coordinator_proxy import pem_of
from tests.support.engines import ENGINES

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.instances import Instances
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.spark.connect_runs import check_runs_there
from svc_jupyter.service.runtimes.spark.connect.external import (
    Address,
    ConnectWorkers,
    ExternalSparkConnect,
    parsed,
    silence_of,
    version_words,
)
from svc_jupyter.service.runtimes.spark.connect.job import ConnectEndpoint


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[ExternalSparkConnect]:
    settings = Settings(data_dir=tmp_path)
    database = Database(settings)
    instances = Instances(settings, database)
    yield ExternalSparkConnect(instances, SecretBox(tmp_path / "secret.key"), ConnectWorkers(ENGINES, {}))
    database.close()


def configuration_of(**external: Any) -> ClusterConfiguration:
    return ClusterConfiguration.model_validate({"provider": "external", "external": external})


def test_addresses():
    addresses = {
        "sc://spark.example.com": Address("spark.example.com"),
        "sc://[::1]:15003/": Address("::1", 15003),
        "sc://h:443/;use_ssl=true": Address("h", 443, is_encrypted=True),
    }
    assert {text: parsed(text) for text in addresses} == addresses


def test_an_address_that_cannot_be_used_is_refused():
    def refusal(text: str) -> str:
        with pytest.raises(Invalid) as refused:
            parsed(text)
        return refused.value.message.removeprefix("external.spark_connect: ")

    like = "must be like sc://spark.example.com:15002 or sc://spark.example.com:443/;use_ssl=true"
    refused = {
        "spark.example.com:15002": like,
        "http://h:15002": like,
        "sc://h:port": like,
        "sc://ann@h": like,
        "sc://h/path": like,
        "sc://h/;user_id=hive": "the parameter 'user_id' cannot be used: the user is that of each command",
        "sc://h/;session_id=1": "the parameter 'session_id' cannot be used: each command has a session of its own",
        "sc://h/;use_ssl=maybe": "the parameter 'use_ssl' cannot be used: it is not supported",
    }
    assert {text: refusal(text) for text in refused} == refused


def test_a_token_in_the_address_becomes_the_secret():
    external = configuration_of(spark_connect="sc://h:443/;token=s3cret;use_ssl=true").external
    assert (external.spark_connect, external.password) == ("sc://h:443/;use_ssl=true", "s3cret")
    with pytest.raises(ValueError, match="there are two tokens") as refused:
        configuration_of(spark_connect="sc://h/;token=s3cret", password="other")
    assert "external.spark_connect" in str(refused.value)


def test_an_invalid_configuration_is_refused_with_the_reason(servers: ExternalSparkConnect):
    def refusal(external: dict[str, Any]) -> str:
        with pytest.raises(Invalid) as refused:
            servers.check(configuration_of(**external))
        return refused.value.message

    refused = [
        (
            {"spark_connect": "sc://h/;token=x"},
            "external.spark_connect: must have use_ssl=true where there is a token",
        ),
        (
            {"spark_connect": "sc://h", "tls_ca": "x"},
            "external.spark_connect: must have use_ssl=true where there is a tls_ca",
        ),
        (
            {"spark_connect": "sc://h/;use_ssl=true", "tls_ca": "x"},
            "external.tls_ca: must be one or more certificates in PEM",
        ),
        (
            {"spark_connect": "sc://h", "user": "svc"},
            "external.user: Spark Connect has no login, but a token: give it as external.password",
        ),
        ({"spark_connect": "sc://h", "source": "etl"}, "external.source: is for Presto and Trino"),
        (
            {"spark_connect": "sc://h", "session_properties": {"a b": "1"}},
            "external.session_properties: 'a b' is not the name of a property",
        ),
    ]
    assert [(external, refusal(external)) for external, _ in refused] == refused


def test_a_token_needs_no_tls_on_this_machine(servers: ExternalSparkConnect):
    servers.check(configuration_of(spark_connect="sc://127.0.0.1/;token=x"))
    secure = {"spark_connect": "sc://h/;use_ssl=true;token=x", "tls_ca": pem_of(trustme.CA())}
    servers.check(configuration_of(**secure))


def test_the_version_is_told_with_what_it_means():
    versions = {
        "4.2.1": "Spark 4.2.1; functions are those of the service's client, 4.2.0",
        "4.3.0": "Spark 4.3.0; functions are those of the service's client, 4.2.0",
        "4.0.1": "Spark 4.0.1, older than the service's client (4.2.0): newer functions fail there",
    }
    assert {server: version_words(server, "4.2.0") for server in versions} == versions


def test_another_major_version_is_refused_in_words():
    def refusal(server: str) -> str:
        with pytest.raises(ClusterFailure) as refused:
            version_words(server, "4.2.0")
        return str(refused.value)

    assert [refusal("3.5.8"), refusal("5.0.0")] == [
        f"it is Spark {server}, and the service's client is that of Spark 4.2.0: they understand each other only "
        "within one major version, such as 4"
        for server in ("3.5.8", "5.0.0")
    ]


COMMANDS = [
    ({"note_id": 1}, "notes"),
    ({"app_id": "mine", "language": "python"}, "kept sessions (app_id)"),
    ({"cmdline": "spark-submit a.py"}, "spark-submit and its options"),
    ({"language": "python", "arguments": "--conf a=b"}, "spark-submit and its options"),
    ({"language": "scala"}, "programs in Scala"),
    ({"language": "R"}, "programs in R"),
    ({"script_location": "s3://b/a.jar"}, "jars and programs in other languages"),
]


def refusal_to_run(command: dict[str, Any], configuration: ClusterConfiguration) -> str | None:
    try:
        check_runs_there(command, configuration)
    except Invalid as refused:
        return refused.message
    return None


def test_a_command_that_spark_connect_cannot_run_is_refused_with_the_reason():
    assert [refusal_to_run(command, configuration_of(spark_connect="sc://h")) for command, _ in COMMANDS] == [
        f"Spark Connect does not run {what}: it runs SQL and programs in Python; take a Spark cluster of the service"
        for _, what in COMMANDS
    ]


def test_a_spark_cluster_of_the_service_runs_what_spark_connect_cannot():
    spark = ClusterConfiguration.model_validate({"hadoop_settings": {"use_spark": True}})
    assert [refusal_to_run(command, spark) for command, _ in COMMANDS] == [None] * 7


def test_sql_and_python_run_there():
    commands: list[dict[str, Any]] = [{"language": "sql"}, {"language": "python"}, {"script_location": "a/B.PY"}, {}]
    assert [refusal_to_run(command, configuration_of(spark_connect="sc://h")) for command in commands] == [None] * 4


def test_a_server_without_http_2_is_reported_as_no_grpc_server():
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            connection, _ = other.accept()
            connection.recv(100)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        endpoint = ConnectEndpoint("127.0.0.1", other.getsockname()[1], "ann", "")
        assert "it is not a server of gRPC" in str(silence_of(endpoint, 5))
        thread.join()
    assert silence_of(endpoint, 5) == "Connection refused"
