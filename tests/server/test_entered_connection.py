"""A person without a configured service enters one, or uses this machine's."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess

pytestmark = pytest.mark.xdist_group("jupyter-server")


def profile_file(server: JupyterProcess) -> Path:
    return server.folder / "home" / ".config" / "svc-jupyter" / "config.toml"


def test_an_entered_service_is_asked_kept_for_its_owner_alone_and_its_token_shown_to_nobody(
    new_jupyter: Callable[..., JupyterProcess], service: ServiceProcess
) -> None:
    server = new_jupyter(base_url="", token="")
    wrong = server.http.put("/status", json={"base_url": service.base_url, "token": "wrong-token"})
    assert wrong.status_code == 401
    assert not profile_file(server).exists()
    missing = server.http.put("/status", json={"base_url": service.base_url, "token": " "})
    assert (missing.status_code, "token" in missing.json()["message"]) == (422, True)
    answer = server.http.put("/status", json={"base_url": service.base_url, "token": service.token})
    assert (answer.json()["connected"], answer.json()["base_url"]) == (True, service.base_url)
    assert answer.json()["fixed_by"] is None
    assert stat.S_IMODE(profile_file(server).stat().st_mode) == 0o600
    assert server.http.get("/commands").status_code == 200
    for text in (wrong.text, answer.text, server.http.get("/status").text, server.log_file.read_text()):
        assert service.token not in text
        assert "wrong-token" not in text


def test_an_address_that_is_configured_is_not_overruled(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    refused = jupyter.http.put("/status", json={"base_url": "http://127.0.0.1:9", "token": service.token})
    assert refused.status_code == 503
    assert "SVC_BASE_URL" in refused.json()["message"]
    status = jupyter.http.get("/status").json()
    assert (status["base_url"], status["fixed_by"]) == (service.base_url, "SVC_BASE_URL")


def test_the_status_names_the_setting_that_fixes_the_address_and_the_source_of_the_token(
    new_jupyter: Callable[..., JupyterProcess], service: ServiceProcess
) -> None:
    configured = {"service_url": service.base_url}
    server = new_jupyter(base_url="", token=service.token, SvcJupyterServer=configured)
    status = server.http.get("/status").json()
    assert status["connected"] is True
    assert (status["fixed_by"], status["token_source"]) == ("SvcJupyterServer.service_url", "the environment")


def test_a_wrong_token_is_reported_and_this_machines_service_is_used_until_the_settings_are_read_anew(
    new_jupyter: Callable[..., JupyterProcess], service: ServiceProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_DATA_DIR", str(service.data_dir))
    server = new_jupyter(base_url=service.base_url, token="not-the-token")
    status = server.http.get("/status").json()
    assert (status["connected"], status["base_url"], status["status"]) == (False, service.base_url, 401)
    assert "token" in status["message"]
    refused = server.http.get("/commands")
    assert refused.status_code == 401
    assert "not-the-token" not in refused.text
    used = server.http.put("/status", json={"embedded": True}).json()
    assert (used["connected"], used["source"]) == (True, "embedded service")
    again = server.http.post("/status").json()
    assert (again["connected"], again["status"]) == (False, 401)
