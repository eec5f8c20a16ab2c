"""Tokens that are taken back while a call that carries them waits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
from tests.support.service_process import ServiceProcess, wait_until


def test_a_call_that_waits_is_refused_once_its_token_is_deleted(shared_service: ServiceProcess):
    service, http = shared_service, shared_service.http
    user = http.post("/users/invite_new", json={"invitee_email": "waiting@example.org"}).json()["user"]["id"]
    made = http.post(f"/users/{user}/tokens", json={"name": "waits"}).json()
    gate = service.data_dir / "gate"
    command = service.submit(f"echo begun; while [ ! -e {gate} ]; do sleep 0.02; done; echo secret result")["id"]
    wait_until(lambda: service.record(command)["status"] == "running", "the command's beginning")
    sent = threading.Semaphore(0)
    streamed = []

    def note(event: str, _info: object) -> None:
        if event == "http11.send_request_body.complete":
            sent.release()

    def wait(client: httpx.Client, path: str) -> httpx.Response:
        return client.get(path, params={"wait": 30}, extensions={"trace": note})

    def follow(client: httpx.Client) -> None:
        with client.stream("GET", f"/commands/{command}/events") as response:
            streamed.extend(response.iter_lines())

    with service.client(made["token"]) as client, ThreadPoolExecutor(3) as pool:
        waiting = [
            pool.submit(wait, client, f"/commands/{command}"),
            pool.submit(wait, client, f"/commands/{command}/status_with_results"),
        ]
        assert all(sent.acquire(timeout=30) for _ in waiting)
        # The service takes connections in their order: when it answers this one, it has the calls that wait.
        following = pool.submit(follow, client)
        wait_until(lambda: streamed, "the first event")
        assert http.delete(f"/users/{user}/tokens/{made['id']}").status_code == 200
        following.result(30)
        gate.touch()
        answers = [one.result(30) for one in waiting]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert "was taken back while the call waited" in answers[0].json()["error"]["error_message"]
    assert not [line for line in streamed if line == "event: end"]
    assert service.ended(command)["status"] == "done"


def test_other_calls_go_on_waiting_when_somebody_else_s_rights_change(shared_service: ServiceProcess):
    service, http = shared_service, shared_service.http
    gate = service.data_dir / "other-gate"
    command = service.submit(f"while [ ! -e {gate} ]; do sleep 0.02; done")["id"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(http.get, f"/commands/{command}", params={"wait": 30})
        assert http.post("/groups", json={"name": "meanwhile"}).status_code == 200
        gate.touch()
        answer = waiting.result(30)
    assert (answer.status_code, answer.json()["status"]) == (200, "done")
