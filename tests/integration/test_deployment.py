"""A team's service from the files in deploy/: two replicas on PostgreSQL behind nginx with TLS, seen from a client.

Real: nginx, PostgreSQL, certificates, the command line and the environment of the unit. systemd itself does not run:
the test starts and kills what the unit says.
"""

from __future__ import annotations

import configparser
import json
import os
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import trustme
from tests.conftest import end_commands_of
from tests.notebooks.test_notebooks import QUICKSTART, compared_with_its_published_outputs
from tests.support.ports import free_port
from tests.support.postgres import PostgresCluster
from tests.support.service_process import wait_until

from svc_jupyter.api.db_taps import DbType
from svc_jupyter.cli.demo.build import DATABASE, build
from svc_jupyter.client import Client

DEPLOY = Path(__file__).parents[2] / "deploy"
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def replaced(text: str, values: dict[str, object]) -> str:
    """Return a file of deploy/ with the test's values in place of its own."""
    for own, value in values.items():
        assert own in text, own
        text = text.replace(own, str(value))
    return text


class Deployment:
    """What the files in deploy/ start, in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        self.authority = trustme.CA()
        self.ports = {1: free_port(), 2: free_port()}
        self.metrics_ports = {1: free_port(), 2: free_port()}
        self.port = free_port()
        self.url = f"https://localhost:{self.port}"
        self._processes: dict[int, subprocess.Popen[str]] = {}
        self._proxies: list[subprocess.Popen[bytes]] = []

    def start(self, database_url: str) -> None:
        settings = {
            "SVC_DATA_DIR=/srv/svc-jupyter\n": f"SVC_DATA_DIR={self.data_dir}\n",
            "postgresql:///svc-jupyter?host=/var/run/postgresql": database_url,
            "SVC_ENGINES_DIR=/srv/svc-jupyter-engines": f"SVC_ENGINES_DIR={self.folder / 'engines'}",
            "https://svc.example.com": self.url,
        }
        text = replaced((DEPLOY / "svc-jupyter.env").read_text(), settings)
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.environment = dict(shlex.split(line)[0].split("=", 1) for line in lines)
        self.authority.cert_pem.write_to_path(self.folder / "authority.pem")
        certificate = self.authority.issue_cert("localhost")
        certificate.private_key_pem.write_to_path(self.folder / "key.pem")
        (self.folder / "fullchain.pem").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
        for number in self.ports:
            self.start_replica(number)
        self.start_nginx(self.port, {})

    def start_replica(self, number: int) -> None:
        """Do what `systemctl start svc-jupyter@NUMBER` does."""
        unit = configparser.ConfigParser(interpolation=None)
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        text = (DEPLOY / "systemd" / "svc-jupyter@.service").read_text()
        ports = {f"808{number}": self.ports[number], f"909{number}": self.metrics_ports[number]}
        unit.read_string(replaced(text.replace("%i", str(number)), ports))
        service = unit["Service"]
        program, *arguments = shlex.split(service["ExecStart"])
        assert program == "/opt/svc-jupyter/bin/svc-jupyter"
        name, value = service["Environment"].split("=")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        with (self.folder / f"replica-{number}.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "svc_jupyter", *arguments],
                env=clean | self.environment | {name: value},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._processes[number] = process
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready "), (self.folder / f"replica-{number}.log").read_text()

    def kill_replica(self, number: int) -> None:
        process = self._processes.pop(number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def stop(self) -> None:
        for number in [*self._processes]:
            self.kill_replica(number)
        for proxy in self._proxies:
            proxy.terminate()
            proxy.wait()
        end_commands_of(self.data_dir)

    def start_nginx(self, port: int, changed: dict[str, object]) -> None:
        """Start nginx with the file in deploy/ on a port; `changed` replaces parts of it."""
        values = {
            "listen 443 ": f"listen 127.0.0.1:{port} ",
            "server_name svc.example.com": "server_name localhost",
            "/etc/ssl/svc-jupyter": self.folder,
            **{f"127.0.0.1:808{number}": f"127.0.0.1:{own}" for number, own in self.ports.items()},
        }
        site = replaced((DEPLOY / "nginx" / "svc-jupyter.conf").read_text(), values | changed)
        folder = self.folder / f"nginx-{port}"
        folder.mkdir()
        temporary = "".join(f"{name}_temp_path {folder}/{name};\n" for name in _TEMPORARY)
        main = f"daemon off; user {Path.home().owner()}; pid {folder}/pid; error_log {folder}/error.log; events {{}}"
        (folder / "nginx.conf").write_text(f"{main}\nhttp {{\naccess_log {folder}/access.log;\n{temporary}{site}}}\n")
        program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        assert program is not None, "the tests need nginx: test.sh installs it"
        command = [program, "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
        self._proxies.append(subprocess.Popen(command))
        with self.http(f"https://localhost:{port}") as http:
            wait_until(lambda: _answers(http), "nginx")

    def http(self, url: str | None = None) -> httpx.Client:
        """Return a client of the address that users have, or of another one."""
        verify = ssl.create_default_context(cafile=str(self.folder / "authority.pem"))
        return httpx.Client(base_url=url or self.url, verify=verify, trust_env=False, timeout=60)

    def doctor(self, url: str, *arguments: str, **changed: str) -> tuple[int, str]:
        """Return the exit code and what `svc-jupyter doctor --url` prints on a user's machine."""
        command = [sys.executable, "-m", "svc_jupyter", "doctor", "--url", url, *arguments]
        environment = self.users_environment() | changed
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def users_environment(self) -> dict[str, str]:
        """Return the environment on a machine that has the client, a token and the authority, and no service."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "XDG_", "JUPYTER"))}
        return kept | {
            "HOME": str(home),
            "SVC_BASE_URL": self.url,
            "SVC_API_TOKEN": self.token,
            "SSL_CERT_FILE": str(self.folder / "authority.pem"),
        }

    @property
    def token(self) -> str:
        return str(json.loads((self.data_dir / "service.json").read_text())["token"])


def _answers(http: httpx.Client) -> bool:
    try:
        return http.get("/healthz").is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, postgres_cluster: PostgresCluster) -> Iterator[Deployment]:
    with postgres_cluster.database() as url:
        made = Deployment(tmp_path_factory.mktemp("deployment"))
        try:
            made.start(url)
            yield made
        finally:
            made.stop()


def test_the_quick_start_runs_from_a_machine_that_has_the_client_only(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    storage = deployment.data_dir / "storage"
    build(storage, lambda _: None)
    environment = deployment.users_environment()
    monkeypatch.setenv("SSL_CERT_FILE", environment["SSL_CERT_FILE"])
    with Client(deployment.url, deployment.token) as client:
        client.db_taps.create("flights", DbType.SQLITE.value, db_name=str(storage / DATABASE))
    done = compared_with_its_published_outputs(QUICKSTART, environment)
    assert done.returncode == 0, done.stdout
    assert not list((deployment.folder / "home").rglob("service*"))


def test_doctor_finds_nothing_wrong_from_outside_and_says_what_would_be(deployment: Deployment):
    code, found = deployment.doctor(deployment.url, "--run-command")
    assert code == 0, found
    assert "✓ certificate    valid for" in found
    assert "✓ readiness      database" in found
    assert "✓ figures        not open to everybody" in found
    assert "✓ token          of admin@localhost" in found
    assert "✓ large bodies   2 MiB reach the service" in found
    assert "✓ events         they come while the command runs" in found
    assert deployment.token not in found

    code, found = deployment.doctor(deployment.url, SSL_CERT_FILE="")
    assert code == 1
    assert "→ set SSL_CERT_FILE to the file with the authority that issued it" in found
    code, found = deployment.doctor(deployment.url.replace("https:", "http:"))
    assert (code, "answers 400, but not as this service does" in found) == (1, True), found
    code, found = deployment.doctor(deployment.url.replace("localhost", "127.0.0.1"))
    assert (code, "→ the certificate must name the address" in found) == (1, True), found
    code, found = deployment.doctor(f"https://localhost:{free_port()}")
    assert (code, "Connection refused" in found) == (1, True), found
    code, found = deployment.doctor(deployment.url, SVC_API_TOKEN="wrong")
    assert (code, "✗ token" in found) == (1, True), found


def test_doctor_names_what_a_proxy_does_wrong(deployment: Deployment):
    port = free_port()
    careless = {
        "client_max_body_size 32m;": "client_max_body_size 1m;",
        "proxy_buffering off;": "proxy_ignore_headers X-Accel-Buffering;",
        "return 404;": f"proxy_pass http://127.0.0.1:{deployment.metrics_ports[1]};",
    }
    deployment.start_nginx(port, careless)
    url = f"https://localhost:{port}"
    code, found = deployment.doctor(url, "--run-command", SVC_BASE_URL=url)
    assert code == 1
    assert "✗ figures        everybody can read /metrics" in found
    assert "✗ large bodies   one of 2 MiB is" in found
    assert "✗ events         they come together at the command's end" in found
    assert "✓ command" in found


def test_figures_are_on_the_host_alone(deployment: Deployment):
    with deployment.http() as http:
        assert http.get("/metrics").status_code == 404
    for port in deployment.metrics_ports.values():
        assert "svc_commands" in httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=90).text


def test_replicas_that_are_restarted_one_after_the_other_leave_no_call_without_an_answer(deployment: Deployment):
    """A proxy that leaves the first one alone for a while after its restart has nobody left to ask."""
    with deployment.http() as http:
        for number in deployment.ports:
            deployment.kill_replica(number)
            assert [http.get("/healthz").status_code for _ in range(8)] == [200] * 8, number
            deployment.start_replica(number)


def test_a_replica_that_is_killed_and_started_again_is_not_noticed(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    """Each of them once: an upgrade that stops one replica after the other has the same steps."""
    monkeypatch.setenv("SSL_CERT_FILE", deployment.users_environment()["SSL_CERT_FILE"])
    enough = threading.Event()
    results: list[str] = []

    def work() -> None:
        with Client(deployment.url, deployment.token) as client:
            while not enough.is_set():
                command = client.commands.run("ShellCommand", inline=f"echo {len(results)}")
                results.append(command.result().text().strip())

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        try:
            for number in deployment.ports:
                more_than(3, results, working)
                deployment.kill_replica(number)
                more_than(3, results, working)
                deployment.start_replica(number)
        finally:
            enough.set()
        working.result(60)
    assert results == [str(number) for number in range(len(results))]


def more_than(count: int, results: list[str], working: Future[None]) -> None:
    """Wait for some results more; what has ended the work is raised by whoever asks for its result."""
    wanted = len(results) + count
    wait_until(lambda: len(results) > wanted or working.done(), "results", 60)
