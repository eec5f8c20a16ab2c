"""The service's settings."""

from __future__ import annotations

from svc_jupyter.service.ground.settings import script_environment


def test_only_the_service_s_own_variables_are_kept_from_scripts():
    assert script_environment({"PATH": "/bin", "SVC_X": "1", "SVCX": "2"}) == {"PATH": "/bin", "SVCX": "2"}
