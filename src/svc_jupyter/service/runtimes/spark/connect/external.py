"""Spark Connect servers that others run: their address, the checks of a connection, their health."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid4, uuid5

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, Say
from svc_jupyter.service.clusters.external_engine import ExternalEngine, check_settings
from svc_jupyter.service.clusters.health_entries import ANSWER_SECONDS, master_entry, status_of
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.tls import reason_of, tls_context
from svc_jupyter.service.installs import connect_client
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.processes.warm_workers import IDLE_SECONDS, WarmWorkers
from svc_jupyter.service.runtimes.spark.connect.job import CHECK_FILE, ConnectEndpoint, ConnectJob, Task
from svc_jupyter.service.runtimes.spark.driver.statement import ERROR_FILE

PORT: Final = 15002
_FIELD: Final = "external.spark_connect"
_FORM: Final = f"{_FIELD}: must be like sc://spark.example.com:15002 or sc://spark.example.com:443/;use_ssl=true"
_CHECK_SECONDS: Final = 90.0
_MODULE: Final = "svc_jupyter.service.runtimes.spark.connect.worker"
_PROPERTY: Final = re.compile(r"[A-Za-z0-9_.-]+")
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The beginning of a connection of HTTP/2, on which gRPC runs: the preface, and an empty frame of settings."""
_FRAME_HEAD: Final = 9
_SETTINGS: Final = 4
_TOKEN_VARIABLE: Final = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105  a name
_SINGLE_THREADED: Final = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""A process that forks must have no threads; these libraries start some when they are loaded."""
_REASONS: Final = {
    "user_id": "the user is that of each command",
    "session_id": "each command has a session of its own",
    "x-spark-connect-token": "give the token as token=… in the address, or as external.password",
}


class ConnectWorkers(WarmWorkers[ConnectJob]):
    """Starts a process for each statement, and for each check; users' programs inherit `environment`.

    The client of Spark Connect is first on their path, since its pandas may be another one than the service's.
    """

    def __init__(
        self,
        engines: Engines,
        environment: Mapping[str, str],
        *,
        idle_seconds: float = IDLE_SECONDS,
        python: str = sys.executable,
    ) -> None:
        own = {name: value for name, value in environment.items() if name != _TOKEN_VARIABLE}
        path = os.pathsep.join(filter(None, (str(connect_client.folder(engines.root)), own.get("PYTHONPATH"))))
        super().__init__(
            _MODULE, {**own, **_SINGLE_THREADED, "PYTHONPATH": path}, idle_seconds=idle_seconds, python=python
        )
        self._engines = engines

    async def install(self, say: Say) -> None:
        """Install the client when it is missing. Raises `ClusterFailure`."""
        with translated(EngineFailure, to=ClusterFailure, about="the client of Spark Connect is not there"):
            await connect_client.install(self._engines.installation, say)


@dataclass(frozen=True, slots=True)
class Address:
    """What an address of Spark Connect says."""

    host: str
    port: int = PORT
    is_encrypted: bool = False

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"{self.host}:{self.port}"


class ExternalSparkConnect(ExternalEngine):
    """Connects to Spark Connect servers."""

    cluster_type = ClusterType.SPARK_CONNECT

    def __init__(self, instances: Instances, secrets: SecretBox, workers: ConnectWorkers) -> None:
        super().__init__(instances, secrets)
        self._workers = workers

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for an address, a token or certificates with which nothing can be reached."""
        external = configuration.external
        address = parsed(external.spark_connect or "")
        if external.user:
            raise Invalid("external.user: Spark Connect has no login, but a token: give it as external.password")
        if external.password and not address.is_encrypted and not _is_here(address.host):
            raise Invalid(f"{_FIELD}: must have use_ssl=true where there is a token")
        if external.tls_ca and not address.is_encrypted:
            raise Invalid(f"{_FIELD}: must have use_ssl=true where there is a tls_ca")
        check_settings(configuration, _PROPERTY, "hadoop_settings")

    async def start(self, instance: Instance, say: Say) -> None:
        """Check the connection, with a line for each check; see `ExternalEngine`."""
        address = parsed(instance.configuration.external.spark_connect or "")
        await self.check_not_own(address.host, address.port, PORT)
        await self._workers.install(say)
        endpoint = self.endpoint(instance, instance.owner_email, str(uuid4()))
        reason = await asyncio.to_thread(silence_of, endpoint, _CHECK_SECONDS)
        if reason is not None:
            raise ClusterFailure(f"{address.name} does not answer: {reason}")
        found = await self._asked(endpoint)
        if "version" not in found:
            raise ClusterFailure(f"{address.name}: {found.get('message', 'the check was interrupted')}")
        with translated(ClusterFailure, to=ClusterFailure, about=address.name):
            version = version_words(found["version"], found["client"])
        say(f"{address.name}: reachable" + (", its certificate is trusted" if address.is_encrypted else ""))
        say(f"{address.name}: {'it accepts the token' if endpoint.token else 'it wants no token'}")
        say(f"{address.name}: {version}")

    async def health(self, instance: Instance) -> Sample:
        """Return whether the server answers; nothing else is known of it."""
        endpoint = self.endpoint(instance, instance.owner_email, "")
        reason = await asyncio.to_thread(silence_of, endpoint, ANSWER_SECONDS)
        engine = {"spark": {"status": status_of(reason is None)}}
        return Sample({"engine": engine, "daemons": {}, "system": {"master": master_entry({})}})

    def endpoint(self, instance: Instance, user: str, session: str) -> ConnectEndpoint:
        """Return how a user reaches the server. Raises `ClusterFailure` when the token is lost."""
        external = instance.configuration.external
        address = parsed(external.spark_connect or "")
        return ConnectEndpoint(
            address.host,
            address.port,
            user,
            session,
            is_encrypted=address.is_encrypted,
            token=self.password(instance),
            tls_ca=external.tls_ca or "",
            settings={name: value for name, value in external.session_properties.items() if value},
        )

    async def _asked(self, endpoint: ConnectEndpoint) -> dict[str, Any]:
        """Return what a check has found. Raises `ClusterFailure`."""
        with TemporaryDirectory(prefix="svc-connect-") as name:
            folder = Path(name)
            job = ConnectJob(Task.CHECK, folder, folder / "log", asdict(endpoint))
            try:
                process = await self._workers.start(job)
                async with asyncio.timeout(_CHECK_SECONDS):
                    await process.wait()
            except OSError as error:
                raise ClusterFailure(f"{endpoint.name} could not be checked: {error}") from None
            except TimeoutError:
                await process.stop(1.0)
                raise ClusterFailure(f"{endpoint.name} does not answer within {_CHECK_SECONDS:.0f} s") from None
            for file in (CHECK_FILE, ERROR_FILE):
                if (folder / file).exists():
                    return dict(json.loads((folder / file).read_text("utf-8")))
            return {"message": (folder / "log").read_text("utf-8", "replace")[-500:]}


def session_of(instance: Instance, command_id: int, attempt: int) -> str:
    """Return the id of an attempt's session, by which it can be ended when its process is gone."""
    return str(uuid5(NAMESPACE_URL, f"svc-jupyter:{instance.id}:{instance.start_at}:{command_id}:{attempt}"))


def parsed(text: str) -> Address:
    """Return what `sc://host:port/;parameters` says. Raises `Invalid`."""
    place, _, parameters = text.partition(";")
    try:
        split = urlsplit(place)
        host, port = split.hostname, split.port
    except ValueError:
        raise Invalid(_FORM) from None
    is_plain = split.scheme == "sc" and split.path in ("", "/") and not split.query and not split.fragment
    if not host or port == 0 or not is_plain or "@" in place or not place.isascii() or not place.isprintable():
        raise Invalid(_FORM)
    is_encrypted = False
    for item in parameters.split(";"):
        name, _, value = item.partition("=")
        if name == "use_ssl" and value.lower() in ("true", "false"):
            is_encrypted = value.lower() == "true"
        elif item:
            reason = _REASONS.get(name, "it is not supported")
            raise Invalid(f"{_FIELD}: the parameter {name[:50]!r} cannot be used: {reason}")
    return Address(host, port or PORT, is_encrypted)


def version_words(server: str, client: str) -> str:
    """Return the version of a server, with what it means for the service's client. Raises `ClusterFailure`."""
    of_server, of_client = _numbers(server), _numbers(client)
    if of_server[:1] != of_client[:1]:
        raise ClusterFailure(
            f"it is Spark {server}, and the service's client is that of Spark {client}: they understand each other "
            f"only within one major version, such as {client.partition('.')[0]}"
        )
    if of_server < of_client:
        return f"Spark {server}, older than the service's client ({client}): newer functions fail there"
    return f"Spark {server}; functions are those of the service's client, {client}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def silence_of(endpoint: ConnectEndpoint, seconds: float) -> str | None:
    """Return why a server does not answer as one of HTTP/2, None when it does."""
    try:
        with socket.create_connection((endpoint.host, endpoint.port), seconds) as plain:
            connected = plain
            if endpoint.is_encrypted:
                context = tls_context(endpoint.tls_ca)
                context.set_alpn_protocols(["h2"])
                connected = context.wrap_socket(plain, server_hostname=endpoint.host)
            with connected:
                connected.sendall(_PREFACE)
                head = connected.recv(_FRAME_HEAD)
    except OSError as error:
        return reason_of(error)
    if len(head) < _FRAME_HEAD or head[3] != _SETTINGS:
        return "it is not a server of gRPC (HTTP/2); is it use_ssl=true?" if not endpoint.is_encrypted else "no gRPC"
    return None
