"""Health, readiness and figures, asked over HTTP as a load balancer and Prometheus ask."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.support.ports import free_port
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.access.access import Access
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import Pulse
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.middleware import RequestShell
from svc_jupyter.service.monitoring.caching import Cached
from svc_jupyter.service.monitoring.database_figures import CURRENT_COMMANDS, DUE_SCHEDULE, NODES
from svc_jupyter.service.monitoring.figures import Figures
from svc_jupyter.service.monitoring.monitoring import Monitoring
from svc_jupyter.service.schema.commands import commands

ROOT = Path(__file__).parents[3]
on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def service(settings: Settings, account_id: int) -> Service:
    return Service.of(settings)


@pytest.fixture
async def http(service: Service, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service that does not run, without a token."""
    app = create_app(service)
    shell = RequestShell(app, settings, service.parts[Access].tokens.caller, service.parts[Figures])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(shell), base_url="http://here") as client:
        yield client
    await service.stop()


@pytest.fixture
def admin(service: Service) -> dict[str, str]:
    """The headers of the administrator."""
    return {"X-AUTH-TOKEN": service.parts[Access].tokens.ensure_service_token(None)}


def samples(text: str) -> Samples:
    """Return the values by name and labels; the text must be in the format of Prometheus."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


async def test_health_needs_neither_a_token_nor_the_database(http: httpx.AsyncClient, service: Service):
    service.database.engine.dispose()
    answer = await http.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "alive\n")


async def test_a_ready_service_has_a_line_for_each_check(
    http: httpx.AsyncClient, admin: dict[str, str], settings: Settings
):
    answer = await http.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "ready": True,
        "checks": {"database": "ok", "disk": "ok", "ticker": "ok", "cluster_driver": "ok"},
    }
    assert len(re.findall(r'^  "\w+": "ok"', answer.text, re.MULTILINE)) == 4
    detailed = (await http.get("/readyz", headers=admin)).json()["checks"]
    assert str(settings.data_dir) in detailed["disk"]
    assert detailed["database"].startswith("ok: answered in ")


@on_sqlite
@pytest.mark.parametrize("headers", [{}, {"X-AUTH-TOKEN": "wrong"}])
async def test_a_failed_check_is_named_without_paths(
    http: httpx.AsyncClient,
    service: Service,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    headers: dict[str, str],
):
    async def away(_work: object) -> None:
        raise Unavailable(f"the database {settings.data_dir} is away")

    monkeypatch.setattr(service.database, "read", away)
    answer = await http.get("/readyz", headers=headers)
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"database": "failed", "disk": "ok", "ticker": "ok", "cluster_driver": "ok"}
    assert str(settings.data_dir) not in answer.text


@on_sqlite
async def test_a_full_disk_and_a_late_loop_are_not_ready(settings: Settings, database: Database):
    usage = shutil.disk_usage(settings.data_dir)
    pulse = Pulse()
    pulse.rest(-31)
    full = settings.model_copy(update={"min_free_disk_bytes": 2 * usage.total})
    found = await Monitoring(full, database, Figures(database), {"ticker": pulse}).findings()
    assert {finding.name: finding.is_good for finding in found} == {"database": True, "disk": False, "ticker": False}


async def test_the_database_is_not_waited_for(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("svc_jupyter.service.monitoring.monitoring._DATABASE_SECONDS", 0.05)
    calls = 0

    async def hang(_work: object) -> None:
        nonlocal calls
        calls += 1
        await asyncio.Event().wait()

    monkeypatch.setattr(database, "read", hang)
    monitoring = Monitoring(settings, database, Figures(database), {})
    for _ in range(3):
        monitoring._findings._until = monitoring._text._until = 0
        assert not (await monitoring.findings())[0].is_good
        assert value(samples((await monitoring.text()).decode()), "svc_database_up") == 0
    assert calls == 2  # one look at the database and one reading of the figures, each still under way
    for cached in (monitoring._answer, monitoring._of_database):
        assert cached._reading is not None
        cached._reading.cancel()


@on_sqlite
async def test_figures_are_for_administrators(http: httpx.AsyncClient, admin: dict[str, str]):
    assert (await http.get("/metrics")).status_code == 401
    assert (await http.get("/metrics", headers={"X-AUTH-TOKEN": "wrong"})).status_code == 401
    bearer = {"Authorization": f"Bearer {admin['X-AUTH-TOKEN']}"}
    for headers in (admin, bearer):
        answer = await http.get("/metrics", headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=")
    assert (await http.get("/api/v1.2/account", headers=bearer)).status_code == 401


@on_sqlite
async def test_a_member_does_not_read_figures(http: httpx.AsyncClient, admin: dict[str, str]):
    invited = await http.post("/api/v1.2/users/invite_new", json={"invitee_email": "ann@example.com"}, headers=admin)
    assert invited.status_code == 200, invited.text
    users = (await http.get("/api/v1.2/users", headers=admin)).json()["users"]
    user = next(user["id"] for user in users if user["email"] == "ann@example.com")
    token = (await http.post(f"/api/v1.2/users/{user}/tokens", json={"name": "t"}, headers=admin)).json()["token"]
    answer = await http.get("/metrics", headers={"X-AUTH-TOKEN": token})
    assert answer.status_code == 403
    assert "SVC_METRICS_PORT" in answer.json()["error"]["error_message"]


@on_sqlite
async def test_requests_are_counted_by_the_template_of_their_route(http: httpx.AsyncClient, admin: dict[str, str]):
    for path in ("/api/v1.2/commands/1", "/api/v2/commands/7", "/api/v1.2/commands/8?wait=1&x=1", "/secret/path"):
        assert (await http.get(path, headers=admin)).status_code == 404
    await http.put("/api/v1.2/commands/x y", json={"status": "nonsense"}, headers=admin)
    await http.request("BREW", "/api/v1.2/commands", headers=admin)
    await http.get("/api/v1.2/groups/nobody?page=x", headers=admin)
    text = (await http.get("/metrics", headers=admin)).text
    found = samples(text)
    template = "/api/v1.2/commands/{command_id}"
    assert value(found, "svc_http_requests_total", method="GET", route=template, status="404") == 3
    assert value(found, "svc_http_answer_seconds_count", method="GET", route=template) == 3
    assert value(found, "svc_http_requests_total", method="GET", route="other", status="404") == 1
    assert value(found, "svc_http_requests_total", method="other", route="/api/v1.2/commands", status="405") == 1
    assert "secret" not in text
    assert "nobody" not in text
    assert "BREW" not in text


async def test_figures_of_the_database(database: Database, settings: Settings, account_id: int):
    def row(status: str, created_at: float) -> dict[str, Any]:
        return {
            "account_id": account_id,
            "user_id": 1,
            "command_type": "ShellCommand",
            "command_source": "API",
            "status": status,
            "command": {},
            "created_at": created_at,
            "can_notify": False,
            "folder_key": "k",
        }

    now = time.time()
    with database.begin() as connection:
        rows = [row("waiting", now - 100), row("waiting", now - 10), row("running", now - 500), row("done", now - 900)]
        connection.execute(sa.insert(commands), rows)
    monitoring = Monitoring(settings, database, Figures(database), {"ticker": Pulse()})
    found = samples((await monitoring.text()).decode())
    assert value(found, "svc_commands", command_type="ShellCommand", status="waiting") == 2
    assert value(found, "svc_commands", command_type="ShellCommand", status="running") == 1
    assert 100 <= value(found, "svc_oldest_waiting_seconds") < 160
    assert value(found, "svc_database_up") == 1
    assert value(found, "svc_loop_late_seconds", loop="ticker") == 0
    assert value(found, "svc_disk_size_bytes") > value(found, "svc_disk_free_bytes") > 0
    assert value(found, "process_resident_memory_bytes") > 1e6


@on_sqlite
def test_no_query_reads_what_has_ended(database: Database):
    with database.connect() as connection:
        for query in (CURRENT_COMMANDS, DUE_SCHEDULE, NODES):
            text = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
            plan = [step[3] for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]
            reading = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
            assert reading
            assert all(step.startswith("SEARCH") for step in reading), plan


async def test_a_value_is_read_once_in_its_time(monkeypatch: pytest.MonkeyPatch):
    clock = [1000.0]
    monkeypatch.setattr("svc_jupyter.service.monitoring.caching.time.monotonic", lambda: clock[0])
    readings = 0

    async def read() -> int:
        nonlocal readings
        readings += 1
        await asyncio.sleep(0)
        clock[0] += 0.2
        return readings

    cached = Cached(read, 1.0)
    assert await asyncio.gather(*(cached.value() for _ in range(100))) == [1] * 100
    clock[0] += 3.9  # a twentieth of the time may be spent on it
    assert await cached.value() == 1
    clock[0] += 0.2
    assert await cached.value() == 2


def test_the_dashboard_and_the_alerts_use_metrics_that_exist(settings: Settings, database: Database):
    figures = Figures(database)
    Monitoring(settings, database, figures, {"ticker": Pulse()})
    there = {name for names in figures.registry._collector_to_names.values() for name in names}
    there |= {sample.name for family in figures.registry.collect() for sample in family.samples}
    alerts = yaml.safe_load((ROOT / "deploy/alerts.yml").read_text())
    expressions = [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    dashboard = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())
    expressions += [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    assert len(expressions) > 20
    for expression in expressions:
        used = set(re.findall(r"\b(?:svc|process)_\w+", expression))
        assert used, expression
        assert used <= there, expression


@pytest.mark.all
def test_a_running_service_at_a_port_of_its_own(new_service: Callable[..., ServiceProcess]):
    port = free_port()
    service = new_service(metrics_port=port).start()
    record = service.ended(service.submit("true")["id"])
    assert record["status"] == "done"
    own = f"http://127.0.0.1:{port}"
    found = samples(httpx.get(f"{own}/metrics", timeout=90).raise_for_status().text)
    labels = {"command_type": "ShellCommand"}
    assert value(found, "svc_commands_ended_total", **labels, status="done") == 1
    assert value(found, "svc_command_run_seconds_count", **labels) == 1
    assert value(found, "svc_command_wait_seconds_count", **labels) == 1
    assert value(found, "svc_replicas", lease="alive") == 1
    assert httpx.get(f"{own}/readyz", timeout=90).json()["ready"]
    assert httpx.get(f"{own}/api/v1.2/account", timeout=90).status_code == 404
    command = service.submit("sleep 60")["id"]
    with service.http.stream("GET", f"/commands/{command}/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        wait_until(
            lambda: value(samples(httpx.get(f"{own}/metrics", timeout=90).text), "svc_event_streams_open") == 1,
            "an open stream",
        )
    wait_until(
        lambda: value(samples(httpx.get(f"{own}/metrics", timeout=90).text), "svc_event_streams_open") == 0,
        "no open stream",
    )
    service.http.put(f"/commands/{command}", json={"status": "kill"})
    assert service.stop() == 0


def test_a_taken_port_is_named(new_service: Callable[..., ServiceProcess]):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(AssertionError, match="SVC_METRICS_PORT"):
        new_service(metrics_port=taken.getsockname()[1]).start()
