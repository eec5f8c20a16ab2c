"""HiveServer2 that others run: its address, the checks of a connection, its health."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, Say, ServiceLook
from svc_jupyter.service.clusters.external_engine import ExternalEngine, check_settings
from svc_jupyter.service.clusters.health_entries import ServiceState, master_entry, service_entry
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.runtimes.hive_server import program
from svc_jupyter.service.runtimes.hive_server.client import OperationState, ServerError, Session
from svc_jupyter.service.runtimes.hive_server.endpoint import Endpoint, LoginRefused, ServerLost

_FIELD: Final = "external.hiveserver2"
_FORM: Final = f"{_FIELD}: must be like hive.example.com:10000 or hive2://hive.example.com:10000/;auth=noSasl;ssl=true"
_DEFAULT_PORT: Final = 10000
_CHECK_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.05
_PROBE_SECONDS: Final = 1.5
_WHO: Final = "SELECT current_user()"
_SHOWN: Final = 300
_PROPERTY: Final = re.compile(r"[A-Za-z0-9_.:-]+")
_SERVERS_OWN: Final = "hive.server2."
"""The beginning of settings that a session must not change, such as the user in whose name it runs."""
_SUPPORTED: Final = {
    "auth": ("nosasl", "none", "plain", "ldap"),
    "ssl": ("true", "false"),
    "transportmode": ("binary",),
}
"""The parameters of Hive's URLs that can be used, with their values, in lower case."""
_REASONS: Final = {
    "principal": "Kerberos is not supported",
    "saslqop": "Kerberos is not supported",
    "transportmode": "only the binary transport is supported, not HTTP",
    "httppath": "only the binary transport is supported, not HTTP",
    "servicediscoverymode": "give the address of a server, not of ZooKeeper",
    "zookeepernamespace": "give the address of a server, not of ZooKeeper",
    "user": "give the login as external.user and external.password",
    "password": "give the login as external.user and external.password",
    "ssltruststore": "give the certificate of the authority as external.tls_ca",
    "truststorepassword": "give the certificate of the authority as external.tls_ca",
}
"""Why parameters of Hive's URLs are not supported, and what to do; by their names in lower case."""


@dataclass(frozen=True, slots=True)
class Address:
    """What an address of HiveServer2 says."""

    host: str
    port: int
    database: str = ""
    is_sasl: bool = True
    is_encrypted: bool = False

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"{self.host}:{self.port}"


class ExternalHiveServers(ExternalEngine):
    """Connects to HiveServer2."""

    cluster_type = ClusterType.HIVE

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._sessions: dict[int, Session] = {}
        """The sessions that are asked for the health of each instance."""

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for an address, a login or certificates with which nothing can be reached."""
        external = configuration.external
        address = parsed(external.hiveserver2 or "")
        if bool(external.user) != bool(external.password):
            raise Invalid(
                "external.user: a user and a password go together; without both, the server gets only the e-mail of "
                "each command's user"
            )
        if external.user and not address.is_sasl:
            raise Invalid(f"{_FIELD}: auth=noSasl takes no login; remove external.user and external.password")
        if (external.password or external.tls_ca) and not address.is_encrypted:
            raise Invalid(f"{_FIELD}: must be an URL with ssl=true where there is a password or tls_ca")
        check_settings(configuration, _PROPERTY, "hadoop_settings")
        for name in external.session_properties:
            if name.lower().startswith(_SERVERS_OWN):
                raise Invalid(f"external.session_properties: {name[:100]} is the server's own")

    async def start(self, instance: Instance, say: Say) -> None:
        """Check the connection, with a line for each check; see `ExternalEngine`."""
        address = parsed(instance.configuration.external.hiveserver2 or "")
        await self.check_not_own(address.host, address.port, program.PORT)
        for line in await asyncio.to_thread(_checked, self.endpoint(instance, instance.owner_email), address.name):
            say(f"{address.name}: {line}")

    async def terminate(self, instance: Instance, say: Say) -> None:
        """Let go of the server."""
        await super().terminate(instance, say)
        self._drop(instance.id)

    async def health(self, instance: Instance) -> Sample:
        """Return whether the server answers a question; nothing else is known of it."""
        answers = await asyncio.to_thread(self._ask, instance)
        look = ServiceLook(is_alive=answers, is_responsive=answers, heap_percent=0.0)
        daemons = {"hs2_server": service_entry(ServiceState(look))}
        return Sample({"engine": {}, "daemons": daemons, "system": {"master": master_entry({})}})

    def endpoint(self, instance: Instance, user: str) -> Endpoint:
        """Return how a user reaches the server. Raises `ClusterFailure` when the password is lost."""
        external = instance.configuration.external
        address = parsed(external.hiveserver2 or "")
        return Endpoint(
            address.host,
            address.port,
            user,
            is_sasl=address.is_sasl,
            is_encrypted=address.is_encrypted,
            login=external.user or "",
            password=self.password(instance),
            tls_ca=external.tls_ca or "",
            database=address.database,
            settings={name: value for name, value in external.session_properties.items() if value},
        )

    async def close(self) -> None:
        """Close the connections."""
        for instance_id in list(self._sessions):
            self._drop(instance_id)

    def _ask(self, instance: Instance) -> bool:
        user = instance.configuration.external.user or instance.owner_email
        session = self._sessions.pop(instance.id, None)
        try:
            session = session or Session(self.endpoint(instance, user), seconds=_PROBE_SECONDS)
            session.ping()
        except (ServerLost, ServerError, ClusterFailure):
            if session is not None:
                session.drop()
            return False
        self._sessions[instance.id] = session
        return True

    def _drop(self, instance_id: int) -> None:
        if (session := self._sessions.pop(instance_id, None)) is not None:
            session.drop()


def parsed(text: str) -> Address:
    """Return what `host:port` or a URL of Hive says. Raises `Invalid`."""
    rest = text.removeprefix("jdbc:")
    is_url = rest.startswith("hive2://")
    place, _, parameters = rest.removeprefix("hive2://").partition(";")
    where, _, database = place.partition("/")
    if "," in where:
        raise Invalid(f"{_FIELD}: give the address of a server, not of ZooKeeper")
    try:
        split = urlsplit(f"//{where}")
        host, port = split.hostname, split.port
    except ValueError:
        raise Invalid(_FORM) from None
    is_bare = not is_url and ("/" in place or parameters)
    if not host or port == 0 or is_bare or set(place) & set("@ \t\n") or set(text) & set("?#") or "://" in place:
        raise Invalid(_FORM)
    given = dict(_parameter(item) for item in parameters.split(";") if item)
    return Address(
        host,
        port or _DEFAULT_PORT,
        database,
        is_sasl=given.get("auth") != "nosasl",
        is_encrypted=given.get("ssl") == "true",
    )


def _parameter(item: str) -> tuple[str, str]:
    name, _, value = item.partition("=")
    key, chosen = name.lower(), value.lower()
    if chosen in _SUPPORTED.get(key, ()):
        return key, chosen
    if (key, chosen) == ("auth", "kerberos"):
        key = "principal"
    raise Invalid(f"{_FIELD}: the parameter {name[:50]!r} cannot be used: {_REASONS.get(key, 'it is not supported')}")


def _checked(endpoint: Endpoint, name: str) -> list[str]:
    """Return what the checks have found, a line each. Raises `ClusterFailure`."""
    try:
        with Session(endpoint, seconds=_CHECK_SECONDS) as session:
            engine = f"{session.engine()} {session.version()}".strip()
            user = _user_of(session, name)
    except LoginRefused as error:
        raise ClusterFailure(f"{name} refuses the login: {_first_line(error)}; {_advice(endpoint)}") from None
    except ServerLost as error:
        raise ClusterFailure(f"{name} does not answer: {error}") from None
    except ServerError as error:
        raise ClusterFailure(f"{name} opens no session for {endpoint.user}: {_first_line(error)}") from None
    if endpoint.login and user == endpoint.login and user != endpoint.user:
        raise ClusterFailure(
            f"{name} runs the statements of {endpoint.user} as {user}: it does not let this login act for others"
        )
    return [
        "reachable" + (", its certificate is trusted" if endpoint.is_encrypted else ""),
        (f"authenticated as {endpoint.login}" if endpoint.login else "it wants no password")
        + "; commands run in the name of their users",
        engine,
        f"{endpoint.user} is the user {user} there" if user else "it does not tell the name that users have there",
    ]


def _user_of(session: Session, name: str) -> str | None:
    """Return the name that the server has for the session's user; None where it does not tell.

    Raises `ClusterFailure` when its answer takes too long.
    """
    try:
        operation = session.execute(_WHO)
        deadline = time.monotonic() + _CHECK_SECONDS
        while not (status := session.status(operation)).state.is_over:  # it answers after a moment
            if time.monotonic() > deadline:
                raise ClusterFailure(f"{name} did not answer {_WHO} within {_CHECK_SECONDS:.0f} s: it may be full")
            time.sleep(_LOOK_SECONDS)
        if status.state is not OperationState.FINISHED:
            return None
        [(values, _)] = session.fetch(operation, 1)
        session.finish(operation)
    except (ServerError, ValueError):
        return None
    return bytes(values[0]).decode("utf-8", "replace") if len(values) else None


def _advice(endpoint: Endpoint) -> str:
    if endpoint.login:
        return "the cluster's login (external.user, external.password) is wrong"
    return "give a login as external.user and external.password"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:_SHOWN]
