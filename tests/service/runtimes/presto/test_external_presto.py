"""Connecting to coordinators that others run. A server stands in for them; what is before it is real: TLS, a login."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import trustme
from tests.support.coordinator_proxy import CoordinatorProxy, pem_of, proxy_before
from tests.support.ports import refusing_port
from tests.support.presto_coordinator import Coordinator, coordinator_at_work

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.api.states import ClusterState
from svc_jupyter.api.text import HIDDEN
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, quietly
from svc_jupyter.service.clusters.cluster_rows import EXTERNAL_PASSWORD
from svc_jupyter.service.clusters.instances import OWNER_EMAIL, SEALED_SECRETS, Instance, Instances
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.runtimes.presto.access import TRINO
from svc_jupyter.service.runtimes.presto.external import ExternalPresto, sample_of
from svc_jupyter.service.runtimes.presto.presto_rest import ClusterFigures, ServerStatus

INFO = (200, {"nodeVersion": {"version": "0.287-abc"}, "starting": False}, {})
ONE = (200, {"id": "q", "data": [[1]]}, {})
LOGIN = ("svc", "pass:word")


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with coordinator_at_work() as coordinator:
        coordinator.answers = [INFO, ONE, ONE]
        yield coordinator


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(coordinator: Coordinator, authority: trustme.CA) -> Iterator[CoordinatorProxy]:
    """A proxy that wants a password."""
    with proxy_before(coordinator.url, authority=authority) as proxy:
        proxy.login = LOGIN
        yield proxy


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
def presto(settings: Settings) -> Iterator[ExternalPresto]:
    database = Database(settings)
    yield ExternalPresto(Instances(settings, database), SecretBox(settings.data_dir / "secret.key"))
    database.close()


def instance_of(settings: Settings, password: str | None = None, **external: Any) -> Instance:
    box = SecretBox(settings.data_dir / "secret.key")
    sealed = None if password is None else box.seal(json.dumps({EXTERNAL_PASSWORD: password}))
    hidden = {} if password is None else {"password": HIDDEN}
    return Instance(
        id=1, cluster_id=7, account_id=1, state=ClusterState.PENDING, provider="external", folder=settings.data_dir,
        configuration=ClusterConfiguration.model_validate({"provider": "external", "external": external | hidden}),
        details={SEALED_SECRETS: sealed, OWNER_EMAIL: "ann@example.com"}, start_at=0.0, up_at=None, last_used_at=0.0,
        terminate_reason=None, nodes=(),
    )  # fmt: skip


async def test_a_start_says_what_it_has_checked(settings: Settings, presto: ExternalPresto, coordinator: Coordinator):
    said: list[str] = []
    await presto.start(instance_of(settings, presto_url=coordinator.url + "/"), said.append)
    name = coordinator.url.removeprefix("http://")
    assert said == [
        f"{name}: reachable",
        f"{name}: it wants no login; commands run in the name of their users",
        f"{name}: Presto 0.287-abc",
        f"{name}: 1 worker",
    ]
    assert coordinator.asked[1][3]["X-Presto-User"] == "ann@example.com"


async def test_trino_is_asked_with_its_own_headers_a_password_and_a_trusted_certificate(
    settings: Settings, presto: ExternalPresto, secure: CoordinatorProxy, authority: trustme.CA
):
    said: list[str] = []
    secure.family = TRINO
    instance = instance_of(settings, LOGIN[1], trino_url=secure.url, user=LOGIN[0], tls_ca=pem_of(authority))
    await presto.start(instance, said.append)
    assert said[0].endswith(": reachable, its certificate is trusted")
    assert said[1].endswith(": authenticated as svc; commands run in the name of their users")
    assert said[2].endswith(": Trino 0.287-abc")
    assert secure.users() == {"svc"}
    assert not any(name.startswith("X-Presto") for _, _, headers in secure.asked for name in headers)
    assert LOGIN[1] not in f"{said}{presto.access(instance)}{instance}"


@pytest.mark.parametrize("password", ["wrong", None])
async def test_a_wrong_or_missing_password_is_reported(
    settings: Settings, presto: ExternalPresto, secure: CoordinatorProxy, authority: trustme.CA, password: str | None
):
    login = {} if password is None else {"user": "svc"}
    instance = instance_of(settings, password, presto_url=secure.url, tls_ca=pem_of(authority), **login)
    with pytest.raises(ClusterFailure, match=r"answers 401: the cluster's login \(external.user, external.password\)"):
        await presto.start(instance, quietly)


@pytest.mark.parametrize("other", [True, False])
async def test_a_certificate_of_an_unknown_authority_is_not_trusted(
    settings: Settings, presto: ExternalPresto, secure: CoordinatorProxy, other: bool
):
    external = {"tls_ca": pem_of(trustme.CA())} if other else {}
    with pytest.raises(ClusterFailure, match=r"its certificate is not trusted .* as external.tls_ca"):
        await presto.start(instance_of(settings, presto_url=secure.url, **external), quietly)
    assert secure.asked == []


async def test_a_coordinator_that_redirects_is_not_followed(
    settings: Settings, presto: ExternalPresto, secure: CoordinatorProxy, authority: trustme.CA
):
    secure.redirects_to = "https://elsewhere.example.com"
    instance = instance_of(settings, LOGIN[1], presto_url=secure.url, user="svc", tls_ca=pem_of(authority))
    with pytest.raises(ClusterFailure, match=r"redirects to https://elsewhere.example.com/v1/info; give the"):
        await presto.start(instance, quietly)


async def test_an_unreachable_server_and_one_that_is_no_ready_coordinator_are_reported(
    settings: Settings, presto: ExternalPresto, coordinator: Coordinator
):
    with refusing_port() as port, pytest.raises(ClusterFailure, match=rf"127.0.0.1:{port} does not answer: .*"):
        await presto.start(instance_of(settings, presto_url=f"http://127.0.0.1:{port}"), quietly)
    with pytest.raises(ClusterFailure, match=r"the name nowhere.invalid cannot be resolved"):
        await presto.start(instance_of(settings, presto_url="http://nowhere.invalid:8080"), quietly)
    coordinator.answers = [(200, {"ready": True}, {})]
    with pytest.raises(ClusterFailure, match="is not a coordinator"):
        await presto.start(instance_of(settings, presto_url=coordinator.url), quietly)
    coordinator.answers = [(200, {**INFO[1], "starting": True}, {})]
    with pytest.raises(ClusterFailure, match="still starting"):
        await presto.start(instance_of(settings, presto_url=coordinator.url), quietly)


async def test_workers_that_may_not_be_counted_are_no_obstacle(
    settings: Settings, presto: ExternalPresto, coordinator: Coordinator
):
    said: list[str] = []
    coordinator.answers[2] = (200, {"id": "q", "error": {"message": "Access Denied: system.runtime.nodes"}}, {})
    await presto.start(instance_of(settings, presto_url=coordinator.url), said.append)
    assert said[-1].endswith("its workers cannot be counted: Access Denied: system.runtime.nodes")


async def test_a_password_that_was_sealed_with_another_key_is_reported(settings: Settings, presto: ExternalPresto):
    instance = instance_of(settings, "x", presto_url="https://127.0.0.1:1", user="svc")
    lost = replace(instance, details={**instance.details, SEALED_SECRETS: "nonsense"})
    with pytest.raises(ClusterFailure, match="enter the secret again"):
        await presto.start(lost, quietly)


def test_an_address_or_a_login_that_cannot_be_used_is_refused(presto: ExternalPresto):
    def refusal(external: dict[str, Any]) -> str:
        with pytest.raises(Invalid) as refused:
            presto.check(ClusterConfiguration.model_validate({"provider": "external", "external": external}))
        return refused.value.message

    together = (
        "external.user: a user and a password go together; without both, the coordinator gets only the e-mail of each "
        "command's user"
    )
    refused = [
        (
            {"presto_url": "presto.example.com:8080"},
            "external.presto_url: must be like https://trino.example.com:8443, without a path",
        ),
        (
            {"presto_url": "http://presto.example.com/ui/"},
            "external.presto_url: must be like https://trino.example.com:8443, without a path",
        ),
        (
            {"presto_url": "http://presto:99999"},
            "external.presto_url: must be like https://trino.example.com:8443",
        ),
        (
            {"trino_url": "https://ann:pw@trino.example.com"},
            "external.trino_url: must not have a login; give it as external.user and external.password",
        ),
        ({"presto_url": "http://presto", "user": "svc"}, together),
        ({"presto_url": "http://presto", "password": HIDDEN}, together),
        (
            {"presto_url": "https://presto", "user": "a:b", "password": HIDDEN},
            "external.user: must not have a colon, which separates it from the password in a request",
        ),
        (
            {"trino_url": "http://trino", "user": "svc", "password": HIDDEN},
            "external.trino_url: must begin with https:// where there is a password or tls_ca",
        ),
        (
            {"presto_url": "https://presto", "tls_ca": "nonsense"},
            "external.tls_ca: must be one or more certificates in PEM",
        ),
        ({"presto_url": "http://presto", "source": "a\nb"}, "external.source: must be of ASCII characters"),
        (
            {"presto_url": "http://presto", "session_properties": {"a b": "1"}},
            "external.session_properties: 'a b' is not the name of a property",
        ),
    ]
    assert [(external, refusal(external)) for external, _ in refused] == refused


def test_settings_of_own_clusters_are_refused(presto: ExternalPresto):
    body = {"provider": "external", "external": {"presto_url": "http://p"}, "presto_settings": {"custom_config": "a=1"}}
    with pytest.raises(Invalid, match=r"presto_settings.custom_config: is for clusters that the service starts"):
        presto.check(ClusterConfiguration.model_validate(body))


def test_a_certificate_that_is_given_is_the_only_authority(authority: trustme.CA, presto: ExternalPresto):
    external = {"presto_url": "https://presto", "tls_ca": pem_of(authority)}
    configuration = ClusterConfiguration.model_validate({"provider": "external", "external": external})
    presto.check(configuration)
    assert configuration.external.tls_ca is not None
    assert len(ssl.create_default_context(cadata=configuration.external.tls_ca).get_ca_certs()) == 1


@pytest.mark.parametrize(("address", "name"), [("presto_url", "Presto"), ("trino_url", "Trino")])
async def test_health_has_the_coordinators_page_while_it_answers(
    settings: Settings, presto: ExternalPresto, coordinator: Coordinator, address: str, name: str
):
    instance = instance_of(settings, **{address: f"{coordinator.url}/"})
    shown = {"starting": False, "heapUsed": 1, "heapAvailable": 2, "activeWorkers": 1}
    queries = {"runningQueries": 0, "queuedQueries": 0, "blockedQueries": 0}
    coordinator.answers = [(200, shown | queries, {})] * 3
    assert (await presto.health(instance)).pages == {name: f"{coordinator.url}/ui/"}
    coordinator.answers = [(503, {}, {})] * 3
    assert (await presto.health(instance)).pages == {}
    await presto.close()


def test_health_comes_from_what_the_coordinator_shows():
    well = sample_of(is_started=True, status=ServerStatus(20, 100), figures=ClusterFigures(2, 1, 3))
    assert well.metrics["engine"] == {"presto": {"status": "UP", "heap": {"usage_percent": "20.0", "status": "green"}}}
    assert (well.values["presto_workers"], well.values["queries_waiting"]) == (2, 3)
    of_trino = cast("dict[str, Any]", sample_of(is_started=True, status=ServerStatus(1, 2), figures=None).metrics)
    assert of_trino["engine"]["presto"]["status"] == "UP"
    gone = sample_of(is_started=False, status=None, figures=None)
    assert (gone.metrics["engine"]["presto"]["status"], gone.values) == ("DOWN", {})
