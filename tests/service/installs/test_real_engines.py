"""The engines themselves, as they are installed from the package's locks: do their files make a program that runs?"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.engines import ENGINES, engine_at_once, engine_for_tests, java_for_tests
from tests.support.ports import free_port
from tests.support.until import until

from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.installs.engine import Engine, Installed, class_path
from svc_jupyter.service.installs.failures import CompilationFailed
from svc_jupyter.service.installs.java import JavaHome
from svc_jupyter.service.processes.tool import run

SETTINGS = """<configuration>
<property><name>javax.jdo.option.ConnectionURL</name><value>jdbc:derby:;databaseName={folder}/db;create=true</value></property>
<property><name>hive.metastore.warehouse.dir</name><value>file:{folder}/warehouse</value></property>
<property><name>datanucleus.connectionPoolingType</name><value>HikariCP</value></property>
<property><name>datanucleus.schema.autoCreateAll</name><value>true</value></property>
<property><name>hive.metastore.schema.verification</name><value>false</value></property>
<property><name>hive.async.log.enabled</name><value>false</value></property>
</configuration>
"""


def quiet(_line: str) -> None:
    pass


@pytest.fixture(scope="session")
def java() -> JavaHome:
    return java_for_tests()


@pytest.fixture(scope="session")
def hadoop() -> Installed:
    return engine_at_once(Engine.HADOOP)


@pytest.fixture(scope="session")
def metastore() -> Installed:
    return engine_at_once(Engine.HIVE_METASTORE)


async def test_hadoop_starts_from_its_class_archive(hadoop: Installed, java: JavaHome, tmp_path: Path):
    assert hadoop.class_archive is not None
    command = [*archive_options(hadoop.class_archive), "-Xshare:on", "-Xlog:class+load", "-Xmx96m", "-XX:+UseSerialGC"]
    version = "org.apache.hadoop.util.VersionInfo"
    ended = await run([java.java, *command, "-cp", class_path(hadoop.jars, tmp_path), version], seconds=60)
    assert ended.code == 0
    assert "Hadoop 3.5.0" in ended.output
    assert f"{version} source: shared objects file" in ended.output


async def test_our_java_is_compiled_without_javac_and_runs(java: JavaHome, tmp_path: Path):
    source = tmp_path / "Greeting.java"
    source.write_text('public class Greeting { public static void main(String[] of) { System.out.println("hé"); } }')
    await ENGINES.compile([source], [], tmp_path / "classes", quiet)
    ended = await run([java.java, "-Dstdout.encoding=UTF-8", "-cp", tmp_path / "classes", "Greeting"], seconds=30)
    assert (ended.code, ended.output) == (0, "hé\n")


async def test_a_mistake_in_java_source_is_reported_with_its_line(tmp_path: Path):
    source = tmp_path / "Wrong.java"
    source.write_text("public class Wrong {\n  int count = unknown;\n}\n")
    with pytest.raises(CompilationFailed, match=r"(?s)Wrong\.java.*at line 2.*unknown cannot be resolved"):
        await ENGINES.compile([source], [], tmp_path / "classes", quiet)


@pytest.fixture
async def metastore_port(metastore: Installed, java: JavaHome, tmp_path: Path) -> AsyncIterator[int]:
    """A metastore on a free port, with Derby."""
    port = free_port()
    (tmp_path / "hive-site.xml").write_text(SETTINGS.format(folder=tmp_path))
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.net", "java.util")]
    main = "org.apache.hadoop.hive.metastore.HiveMetaStore"
    with (tmp_path / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(java.java, "-Xmx128m", *opens, "-cp", class_path(metastore.jars, tmp_path), main, "-p", str(port)),
            cwd=tmp_path,
            stdout=log,
            stderr=log,
        )
    try:
        await until(lambda: process.returncode is not None or answers(port), 60)
        assert process.returncode is None, (tmp_path / "log").read_text()
        yield port
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def answers(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


async def test_the_metastore_keeps_tables_and_reads_their_avro_schemas(metastore_port: int, tmp_path: Path):
    from pymetastore.hive_metastore import ThriftHiveMetastore
    from pymetastore.hive_metastore.ttypes import SerDeInfo, StorageDescriptor, Table
    from thrift.protocol.TBinaryProtocol import TBinaryProtocol
    from thrift.transport.TSocket import TSocket
    from thrift.transport.TTransport import TBufferedTransport

    transport = TBufferedTransport(TSocket("127.0.0.1", metastore_port))
    client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
    transport.open()
    try:
        assert client.get_all_databases() == ["default"]
        serde = SerDeInfo(serializationLib="org.apache.hadoop.hive.serde2.avro.AvroSerDe", parameters={})
        stored = StorageDescriptor(
            cols=[],
            location=f"file:{tmp_path}/flights",
            inputFormat="org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
            outputFormat="org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat",
            serdeInfo=serde,
            parameters={},
        )
        schema = '{"type": "record", "name": "f", "fields": [{"name": "tail", "type": "string"}]}'
        table = Table("flights", "default", "ann", sd=stored, parameters={"avro.schema.literal": schema})
        table.partitionKeys = []
        client.create_table(table)
        assert [(column.name, column.type) for column in client.get_schema("default", "flights")] == [
            ("tail", "string")
        ]
    finally:
        transport.close()


async def test_every_installed_file_is_what_its_lock_names(hadoop: Installed, metastore: Installed):
    pig = await engine_for_tests(Engine.PIG)
    assert all(jar.is_file() for installed in (hadoop, metastore, pig) for jar in installed.jars)
    assert [ENGINES.damaged_files(engine) for engine in (Engine.HADOOP, Engine.HIVE_METASTORE, Engine.PIG)] == [[]] * 3
