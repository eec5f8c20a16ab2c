"""Presto and Trino coordinators that others run: the checks of a connection, their health, the end of a query."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, Say
from svc_jupyter.service.clusters.external_engine import ExternalEngine, check_settings
from svc_jupyter.service.clusters.health_entries import ANSWER_SECONDS, heap_entry, master_entry, status_of
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.tls import explain, tls_context
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent, unless_silent
from svc_jupyter.service.runtimes.presto.access import (
    LOGIN_REFUSED,
    PRESTO,
    TRINO,
    UI_PATH,
    ExternalAccess,
    explain_redirect,
)
from svc_jupyter.service.runtimes.presto.configuration import HTTP_PORT
from svc_jupyter.service.runtimes.presto.presto_rest import ClusterFigures, PrestoRest, ServerStatus

_CHECK_SECONDS: Final = 30.0
_DEFAULT_SOURCE: Final = "svc-jupyter"
_PROPERTY: Final = re.compile(r"[A-Za-z0-9_.]+")
_VISIBLE: Final = re.compile(r"[ -~]*")
_WORKERS: Final = "SELECT count(*) FROM system.runtime.nodes WHERE NOT coordinator AND state = 'active'"
_UNAUTHORIZED: Final = 401
_REDIRECTIONS: Final = range(300, 400)


class ExternalPresto(ExternalEngine):
    """Connects to coordinators of Presto and Trino."""

    cluster_type = ClusterType.PRESTO

    def __init__(self, instances: Instances, secrets: SecretBox) -> None:
        super().__init__(instances, secrets)
        self._rests: dict[int, PrestoRest] = {}
        """What asks the coordinator of each instance for its health."""

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for an address, a login or certificates with which nothing can be reached."""
        external = configuration.external
        field = "external.trino_url" if external.trino_url else "external.presto_url"
        place = _place(external.url or "", field)
        if bool(external.user) != bool(external.password):
            raise Invalid(
                "external.user: a user and a password go together; without both, the coordinator gets only the e-mail "
                "of each command's user"
            )
        if ":" in (external.user or ""):
            raise Invalid("external.user: must not have a colon, which separates it from the password in a request")
        if place.scheme == "http" and (external.password or external.tls_ca):
            raise Invalid(f"{field}: must begin with https:// where there is a password or tls_ca")
        for name in ("user", "source"):  # they travel in headers
            if not _VISIBLE.fullmatch(getattr(external, name) or ""):
                raise Invalid(f"external.{name}: must be of ASCII characters")
        check_settings(configuration, _PROPERTY, "presto_settings", takes_source=True)

    async def start(self, instance: Instance, say: Say) -> None:
        """Check the connection, with a line for each check; see `ExternalEngine`."""
        url, access = address_of(instance), self.access(instance)
        name = urlsplit(url).netloc
        place = urlsplit(url)
        await self.check_not_own(place.hostname or "", place.port or (443 if access.is_encrypted else 80), HTTP_PORT)
        rest = await self._rest(instance, _CHECK_SECONDS)
        try:
            info = await rest.info(url)
            say(f"{name}: reachable" + (", its certificate is trusted" if access.is_encrypted else ""))
            if info["starting"]:
                raise ClusterFailure(f"{name} is still starting; try again in a moment")
            await rest.rows(url, "SELECT 1")
            say(f"{name}: {_who(access)}")
            say(f"{name}: {access.family} {_version(info)}")
            say(f"{name}: {await _workers(rest, url)}")
        except DaemonSilent as silence:
            raise ClusterFailure(_reason(silence, name)) from None
        finally:
            await rest.close()

    async def terminate(self, instance: Instance, say: Say) -> None:
        """Let go of the coordinator."""
        await super().terminate(instance, say)
        if (rest := self._rests.pop(instance.id, None)) is not None:
            await rest.close()

    async def health(self, instance: Instance) -> Sample:
        """Return a live sample from the coordinator's own pages; Trino's show the heap alone."""
        url = address_of(instance)
        if (rest := self._rests.get(instance.id)) is None:
            rest = self._rests[instance.id] = await self._rest(instance, ANSWER_SECONDS)
        async with asyncio.TaskGroup() as group:
            started = group.create_task(unless_silent(rest.is_started(url)))
            status = group.create_task(unless_silent(rest.status(url)))
            figures = group.create_task(unless_silent(rest.figures(url)))
        sample = sample_of(is_started=bool(started.result()), status=status.result(), figures=figures.result())
        return replace(sample, pages={_family(instance): f"{url}{UI_PATH}"}) if started.result() else sample

    async def end_queries(self, instance: Instance, trace_token: str, user: str) -> None:
        """End a user's queries with a trace token; the coordinator ends those of a client that is gone, too."""
        rest, url = await self._rest(instance, _CHECK_SECONDS, user), address_of(instance)
        try:
            with suppress(DaemonSilent):
                for query in await rest.queries(url, trace_token):
                    await rest.end_query(url, query)
        finally:
            await rest.close()

    def access(self, instance: Instance) -> ExternalAccess:
        """Return how the coordinator of an instance is reached. Raises `ClusterFailure` when its secret is lost."""
        external = instance.configuration.external
        return ExternalAccess(
            family=_family(instance),
            is_encrypted=urlsplit(address_of(instance)).scheme == "https",
            login=external.user or "",
            password=self.password(instance),
            tls_ca=external.tls_ca or "",
            source=external.source or _DEFAULT_SOURCE,
            session_properties={name: value for name, value in external.session_properties.items() if value},
        )

    async def close(self) -> None:
        """Close the connections."""
        for rest in self._rests.values():
            await rest.close()
        self._rests.clear()

    async def _rest(self, instance: Instance, seconds: float, user: str = "") -> PrestoRest:
        """Return what sends requests as a user; by default as the login, else as the user who made the cluster."""
        access = self.access(instance)
        user = user or access.login or instance.owner_email
        headers = {f"X-{access.family}-User": user, f"X-{access.family}-Source": access.source}
        if access.authorization:
            headers["Authorization"] = access.authorization
        context = await asyncio.to_thread(tls_context, access.tls_ca) if access.is_encrypted else None
        return PrestoRest(seconds, headers, context)


def _family(instance: Instance) -> str:
    return TRINO if instance.configuration.external.trino_url else PRESTO


def address_of(instance: Instance) -> str:
    """Return the address of an instance's coordinator, without a slash at its end."""
    return (instance.configuration.external.url or "").rstrip("/")


def sample_of(*, is_started: bool, status: ServerStatus | None, figures: ClusterFigures | None) -> Sample:
    """Return a sample out of the coordinator's answers; without figures, one that has started counts as UP."""
    is_up = is_started and (figures is None or figures.active_workers > 0)
    heap = 100 * status.heap_used / status.heap_maximum if status is not None and status.heap_maximum else None
    metrics: dict[str, Any] = {
        "engine": {"presto": {"status": status_of(is_up), "heap": heap_entry(heap)}},
        "daemons": {"zeppelin": {"status": status_of(is_started), "heap": heap_entry(heap)}},
        "system": {"master": master_entry({})},
    }
    values = {} if heap is None else {"presto_heap": heap, "zeppelin_heap": heap}
    if figures is not None:
        values |= {
            "presto_workers": float(figures.active_workers),
            "queries_running": float(figures.running_queries),
            "queries_waiting": float(figures.waiting_queries),
        }
    return Sample(metrics, values)


def _place(url: str, field: str) -> SplitResult:
    """Return the parts of a coordinator's address. Raises `Invalid`."""
    try:
        place = urlsplit(url)
        usable = place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0
    except ValueError:
        raise Invalid(f"{field}: must be like https://trino.example.com:8443") from None
    if not usable or place.path not in ("", "/") or place.query or place.fragment or not _VISIBLE.fullmatch(url):
        raise Invalid(f"{field}: must be like https://trino.example.com:8443, without a path")
    if "@" in place.netloc:
        raise Invalid(f"{field}: must not have a login; give it as external.user and external.password")
    return place


def _who(access: ExternalAccess) -> str:
    if access.login:
        return f"authenticated as {access.login}; commands run in the name of their users"
    return "it wants no login; commands run in the name of their users"


def _version(info: Any) -> str:
    version = info.get("nodeVersion")
    return str(version.get("version", "")) if isinstance(version, dict) else "of an unknown version"


async def _workers(rest: PrestoRest, url: str) -> str:
    try:
        [[count]] = await rest.rows(url, _WORKERS)
    except DaemonSilent as silence:
        return f"its workers cannot be counted: {silence.message}"
    return "1 worker" if count == 1 else f"{count} workers"


def _reason(silence: DaemonSilent, name: str) -> str:
    """Return why the coordinator cannot be used, with what to do."""
    if silence.status == _UNAUTHORIZED:
        return f"{name} answers 401: {LOGIN_REFUSED}"
    if silence.status in _REDIRECTIONS:
        return f"{name}: {explain_redirect(silence.location)}"
    return explain(silence.message)
