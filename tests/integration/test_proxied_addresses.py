"""Where the audit log says that a call came from, when there is a proxy before the service."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("trusted", "told"), [('["127.0.0.1"]', "203.0.113.9"), ("[]", "127.0.0.1")])
def test_only_a_trusted_proxy_is_believed(new_service, trusted, told):
    service = new_service(trusted_proxies=trusted).start()
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    assert service.http.post("/groups", json={"name": "analysts"}, headers=forwarded).status_code == 200
    entries = service.http.get("/audit", params={"resource": "group"}).json()["audit"]
    assert [entry["address"] for entry in entries] == [told]
