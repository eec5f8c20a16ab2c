"""A Spark that others run, for tests: started by Spark's own scripts, with no code of ours.

One process serves HiveServer2 (TLS, login by SASL, statements in the name of their users) and Spark Connect, so that
tests of both share a start.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self
from xml.sax.saxutils import escape

import trustme
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key, pkcs12
from cryptography.x509 import load_pem_x509_certificate
from tests.support.engines import ONE_COMPILER, engine_at_once, java_for_tests
from tests.support.ports import free_port
from tests.support.service_process import wait_until

from svc_jupyter.service.installs.engine import Engine

_MAIN = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
_START_SECONDS = 200.0
_KEYSTORE_PASSWORD = "changeit"


class PlainSpark:
    """The process, and where it listens on 127.0.0.1."""

    def __init__(self, folder: Path, *, token: str = "") -> None:
        """With a `token`, Spark Connect wants it of its clients."""
        self.folder = folder
        self.authority = trustme.CA()
        self.hive_port, self.connect_port = free_port(), free_port()
        self.token = token
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """What it has written."""
        return (self.folder / "log").read_text("utf-8", "replace")

    def start(self) -> Self:
        """Start it; return once both servers listen."""
        self.folder.mkdir(exist_ok=True)
        spark = engine_at_once(Engine.SPARK)
        home = next(spark.home.glob("lib/python*/site-packages/pyspark"))
        (self.folder / "hive-site.xml").write_text(_site(self._hive_settings()))
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.connect_port),
        }
        (self.folder / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
        environment = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "SVC_", "PYSPARK_"))
            },
            "JAVA_HOME": str(java_for_tests().java.parent.parent),
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": str(self.folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_PID_DIR": str(self.folder),
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": str(spark.home / "bin" / "python"),
        }
        if self.token:
            environment["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = self.token
        options = ["--master", "local[2]", "--driver-memory", "640m", "--driver-java-options", ONE_COMPILER]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["bash", str(home / "sbin" / "spark-daemon.sh"), "submit", _MAIN, "1", "--name", "theirs", *options],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            wait_until(lambda: self._serves() == 2, "both servers", _START_SECONDS)
        except AssertionError:
            sys.stderr.write(self.log[-3000:])
            raise
        return self

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
            wait_until(lambda: not self._serves(), "its end")  # Java ends a moment after the script

    def _serves(self) -> int:
        """Return how many of the servers listen."""
        assert self._process is None or self._process.poll() is None, "it has ended"
        count = 0
        for port in (self.hive_port, self.connect_port):
            with socket.socket() as probe:
                count += probe.connect_ex(("127.0.0.1", port)) == 0
        return count

    def _hive_settings(self) -> Mapping[str, str]:
        certificate = self.authority.issue_cert("127.0.0.1")
        key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
        chain = [load_pem_x509_certificate(pem.bytes()) for pem in certificate.cert_chain_pems]
        encryption = BestAvailableEncryption(_KEYSTORE_PASSWORD.encode())
        keystore = pkcs12.serialize_key_and_certificates(b"server", key, chain[0], chain[1:] or None, encryption)  # type: ignore[arg-type]
        (self.folder / "keystore.p12").write_bytes(keystore)
        return {
            "hive.server2.thrift.bind.host": "127.0.0.1",
            "hive.server2.thrift.port": str(self.hive_port),
            "hive.server2.authentication": "NONE",
            "hive.server2.enable.doAs": "true",
            "hive.server2.use.SSL": "true",
            "hive.server2.keystore.path": str(self.folder / "keystore.p12"),
            "hive.server2.keystore.password": _KEYSTORE_PASSWORD,
        }


def _site(settings: Mapping[str, str]) -> str:
    properties = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    )
    return f"<configuration>{properties}</configuration>"
