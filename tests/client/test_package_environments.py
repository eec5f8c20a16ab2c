"""Each call is compared with the contract's own words."""

from typing import Any

import httpx
import pytest
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble

from svc_jupyter.client import WaitTimeout

ENVIRONMENT = {"id": 7, "name": "analysis", "env_type": "python_package"}
ROW = {
    "id": 42,
    "env_type": "python_package",
    "action": "restore",
    "status": "waiting",
    "packages": ["six==1.16.0"],
    "message": None,
    "user_id": 1,
    "created_at": "2026-11-21T10:00:00Z",
    "finished_at": None,
}
BEGUN = {"success": True, "activity": ROW}
PAGE = {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
BASE = "/api/v1.2/package"


def calls(client: Any) -> dict[str, tuple[Any, dict[str, Any], str, Any]]:
    """Return for each call: what makes it, the answer it gets, the request line and the body it sends."""
    environments = client.package_environments
    six = {"packages": ["six==1.16.0"]}
    listing = {"environments": [ENVIRONMENT], "paging_info": PAGE}
    history = {"activity_history": [ROW], "paging_info": PAGE}
    created = {"name": "analysis", "env_type": "python_package", **six}
    restoration = {"env_type": "python_package", "package_id": 41}
    return {
        "list": (environments.list, listing, f"GET {BASE}/list_environments?page=1&per_page=10", None),
        "create": (
            lambda: environments.create("analysis", packages=["six==1.16.0"]),
            ENVIRONMENT,
            f"POST {BASE}",
            created,
        ),
        "create of r": (
            lambda: environments.create("analysis", env_type="r_package", r_version="4.2", packages=["data.table"]),
            {**ENVIRONMENT, "env_type": "r_package", "r_version": "4.2.2"},
            f"POST {BASE}",
            {"name": "analysis", "env_type": "r_package", "r_version": "4.2", "packages": ["data.table"]},
        ),
        "packages": (
            lambda: environments.packages(7),
            {"env_id": 7, "packages": {"python": ["six==1.16.0"]}},
            f"GET {BASE}/7/list_packages",
            None,
        ),
        "add": (lambda: environments.add(7, "six==1.16.0"), BEGUN, f"POST {BASE}/7/packages", six),
        "remove": (lambda: environments.remove(7, "six==1.16.0"), BEGUN, f"DELETE {BASE}/7/packages", six),
        "attach": (lambda: environments.attach(7, 3), BEGUN, f"POST {BASE}/7/attach_cluster", {"cluster_id": 3}),
        "detach": (lambda: environments.detach(7), BEGUN, f"POST {BASE}/7/detach_cluster", {}),
        "restore": (lambda: environments.restore(7, 41), BEGUN, f"POST {BASE}/7/activity_history", restoration),
        "history": (
            lambda: environments.history(7),
            history,
            f"GET {BASE}/7/activity_history?page=1&per_page=10",
            None,
        ),
        "delete": (lambda: environments.delete(7), {"status": "deleted", "id": 7}, f"DELETE {BASE}/7", None),
    }


def test_a_call_says_what_the_contract_has(client: Any, service: ServiceDouble) -> None:
    rows = calls(client)
    service.next_answers += [httpx.Response(200, json=answer) for _, answer, _, _ in rows.values()]

    records = {name: make().model_dump(exclude_unset=True) for name, (make, *_) in rows.items()}

    assert sent(service) == [(line, body) for _, _, line, body in rows.values()]
    assert records == {name: answer.get("activity", answer) for name, (_, answer, _, _) in rows.items()}


def test_a_wait_looks_until_the_activity_is_over(client: Any, service: ServiceDouble) -> None:
    for status in ("waiting", "running", "failed"):
        page = {"activity_history": [ROW | {"id": 43}, ROW | {"status": status}], "paging_info": PAGE}
        service.next_answers.append(httpx.Response(200, json=page))

    assert client.package_environments.wait(7, 42).status == "failed"
    assert len(service.calls) == 3


def test_a_wait_ends_with_its_time(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(httpx.Response(200, json={"activity_history": [ROW], "paging_info": PAGE}))

    with pytest.raises(WaitTimeout, match="activity 42 is still waiting"):
        client.package_environments.wait(7, 42, timeout=0)
