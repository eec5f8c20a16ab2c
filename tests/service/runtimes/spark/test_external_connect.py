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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sc://spark.example.com", Address("spark.example.com")),
        ("sc://[::1]:15003/", Address("::1", 15003)),
        ("sc://h:443/;use_ssl=true", Address("h", 443, is_encrypted=True)),
    ],
)
def test_addresses(text: str, expected: Address):
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("spark.example.com:15002", "must be like sc://"),
        ("http://h:15002", "must be like sc://"),
        ("sc://h:port", "must be like sc://"),
        ("sc://ann@h", "must be like sc://"),
        ("sc://h/path", "must be like sc://"),
        ("sc://h/;user_id=hive", "'user_id' cannot be used: the user is that of each command"),
        ("sc://h/;session_id=1", "each command has a session of its own"),
        ("sc://h/;use_ssl=maybe", "'use_ssl' cannot be used: it is not supported"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(text: str, reason: str):
    with pytest.raises(Invalid, match=reason):
        parsed(text)


def test_a_token_in_the_address_becomes_the_secret():
    external = configuration_of(spark_connect="sc://h:443/;token=s3cret;use_ssl=true").external
    assert (external.spark_connect, external.password) == ("sc://h:443/;use_ssl=true", "s3cret")
    with pytest.raises(ValueError, match="there are two tokens") as refused:
        configuration_of(spark_connect="sc://h/;token=s3cret", password="other")
    assert "external.spark_connect" in str(refused.value)


@pytest.mark.parametrize(
    ("external", "reason"),
    [
        ({"spark_connect": "sc://h/;token=x"}, "must have use_ssl=true where there is a token"),
        ({"spark_connect": "sc://h", "tls_ca": "x"}, "must have use_ssl=true where there is a tls_ca"),
        ({"spark_connect": "sc://h/;use_ssl=true", "tls_ca": "x"}, "must be one or more certificates"),
        ({"spark_connect": "sc://h", "user": "svc"}, "Spark Connect has no login, but a token"),
        ({"spark_connect": "sc://h", "source": "etl"}, "external.source: is for Presto and Trino"),
        ({"spark_connect": "sc://h", "session_properties": {"a b": "1"}}, "is not the name of a property"),
    ],
)
def test_an_invalid_configuration_is_refused_with_the_reason(
    servers: ExternalSparkConnect, external: dict[str, Any], reason: str
):
    with pytest.raises(Invalid, match=reason):
        servers.check(configuration_of(**external))


def test_a_token_needs_no_tls_on_this_machine(servers: ExternalSparkConnect):
    servers.check(configuration_of(spark_connect="sc://127.0.0.1/;token=x"))
    secure = {"spark_connect": "sc://h/;use_ssl=true;token=x", "tls_ca": pem_of(trustme.CA())}
    servers.check(configuration_of(**secure))


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ("4.2.1", "Spark 4.2.1; functions are those of the service's client, 4.2.0"),
        ("4.3.0", "Spark 4.3.0; functions are those of the service's client, 4.2.0"),
        ("4.0.1", "Spark 4.0.1, older than the service's client (4.2.0): newer functions fail there"),
    ],
)
def test_the_version_is_told_with_what_it_means(server: str, words: str):
    assert version_words(server, "4.2.0") == words


@pytest.mark.parametrize("server", ["3.5.8", "5.0.0"])
def test_another_major_version_is_refused_in_words(server: str):
    with pytest.raises(ClusterFailure, match=rf"it is Spark {server}, .* only within one major version, such as 4"):
        version_words(server, "4.2.0")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ({"note_id": 1}, "does not run notes"),
        ({"app_id": "mine", "language": "python"}, "does not run kept sessions"),
        ({"cmdline": "spark-submit a.py"}, "does not run spark-submit"),
        ({"language": "python", "arguments": "--conf a=b"}, "does not run spark-submit and its options"),
        ({"language": "scala"}, "does not run programs in Scala"),
        ({"language": "R"}, "does not run programs in R"),
        ({"script_location": "s3://b/a.jar"}, "does not run jars and programs in other languages"),
    ],
)
def test_a_command_that_spark_connect_cannot_run_is_refused_with_the_reason(command: dict[str, Any], reason: str):
    with pytest.raises(Invalid, match=reason):
        check_runs_there(command, configuration_of(spark_connect="sc://h"))
    check_runs_there(command, ClusterConfiguration.model_validate({"hadoop_settings": {"use_spark": True}}))


@pytest.mark.parametrize("command", [{"language": "sql"}, {"language": "python"}, {"script_location": "a/B.PY"}, {}])
def test_sql_and_python_run_there(command: dict[str, Any]):
    check_runs_there(command, configuration_of(spark_connect="sc://h"))


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
