from __future__ import annotations

from dataclasses import replace

import pytest
from tests.service.installs.conftest import PATIENCE, Fault, Handler, Repository
from tests.support.ports import refusing_port

from svc_jupyter.service.installs.failures import RepositoryFailed, RepositoryRefused, WrongChecksum
from svc_jupyter.service.installs.install import Installation
from svc_jupyter.service.installs.lock import Lock
from svc_jupyter.service.installs.store import digest_of

BEFORE_THE_SILENCE = 100_000


def cut(handler: Handler, content: bytes) -> None:
    """Promise the whole file and hang up in the middle."""
    handler.answer(200, content[: len(content) // 2], length=len(content))


def cut_the_rest(handler: Handler, content: bytes) -> None:
    """Send a part of the rest that was asked for, and hang up."""
    first = int(handler.headers["Range"].removeprefix("bytes=").rstrip("-"))
    told = {"Content-Range": f"bytes {first}-{len(content) - 1}/{len(content)}"}
    handler.answer(206, content[first : first + 70_000], told, length=len(content) - first)


def whole_file(handler: Handler, content: bytes) -> None:
    """Know nothing of ranges."""
    handler.answer(200, content)


def wrong_bytes(handler: Handler, content: bytes) -> None:
    handler.answer(200, bytes(len(content)))


def too_much(handler: Handler, content: bytes) -> None:
    handler.answer(200, content + b"more")


def another_part(handler: Handler, content: bytes) -> None:
    handler.answer(206, content, {"Content-Range": f"bytes 0-{len(content) - 1}/{len(content)}"})


def silent(handler: Handler, content: bytes) -> None:
    """Send a little, then nothing while the connection stands."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[:BEFORE_THE_SILENCE])
    handler.wfile.flush()
    handler.server.gone.wait(10)
    handler.close_connection = True


def status(code: int, **headers: str) -> Fault:
    def answer(handler: Handler, content: bytes) -> None:
        handler.answer(code, b"<html>", headers)

    return answer


@pytest.fixture
def path(lock: Lock) -> str:
    return lock.artifacts[0].path


async def install(installation: Installation, lock: Lock) -> None:
    """Install, and see that every file is the right one."""
    await installation.install(lock, lambda _: None)
    assert [digest_of(jar) for jar in installation.jars(lock)] == [artifact.sha256 for artifact in lock.artifacts]


@pytest.mark.parametrize(
    ("faults", "requests"),
    [
        pytest.param([cut], 2, id="cut off in the middle"),
        pytest.param([cut, cut_the_rest, cut_the_rest], 4, id="cut off again and again, gaining each time"),
        pytest.param([cut, whole_file], 2, id="no ranges after a cut"),
        pytest.param([cut, another_part], 3, id="another range than asked for"),
        pytest.param([cut, status(416)], 3, id="the range is refused"),
        pytest.param([wrong_bytes], 2, id="wrong bytes once"),
        pytest.param([too_much], 2, id="more than the file"),
        pytest.param([status(503), status(502)], 3, id="away for a moment"),
        pytest.param([status(429, **{"Retry-After": "1"})], 2, id="too many requests"),
    ],
)
async def test_a_repository_on_a_bad_day_ends_in_a_whole_installation(
    installation: Installation, lock: Lock, repository: Repository, path: str, faults: list[Fault], requests: int
):
    repository.faults[path] += faults
    await install(installation, lock)
    assert repository.requests[path] == requests


async def test_an_interrupted_download_resumes_where_it_stopped(
    installation: Installation, lock: Lock, repository: Repository, path: str
):
    repository.faults[path] += [cut]
    await install(installation, lock)
    assert repository.ranges[path] == [None, f"bytes={len(repository.files[path]) // 2}-"]


async def test_a_download_goes_on_after_a_silence(
    installation: Installation, lock: Lock, repository: Repository, path: str
):
    repository.faults[path] += [silent]
    impatient = Installation(installation.root, lambda: repository.address, replace(PATIENCE, silence=5.0))
    await install(impatient, lock)
    assert repository.ranges[path] == [None, f"bytes={BEFORE_THE_SILENCE}-"]


async def test_wrong_bytes_twice_name_the_file_and_install_nothing(
    installation: Installation, lock: Lock, repository: Repository, path: str
):
    repository.faults[path] += [wrong_bytes, wrong_bytes]
    with pytest.raises(WrongChecksum, match=path) as failure:
        await install(installation, lock)
    assert not failure.value.may_retry
    assert not installation.is_installed(lock)
    await install(installation, lock)


async def test_a_file_that_the_repository_lacks_is_named_and_asked_for_once(
    installation: Installation, lock: Lock, repository: Repository, path: str
):
    del repository.files[path]
    with pytest.raises(RepositoryRefused, match=rf"{path}.*404.*SVC_MAVEN_REPOSITORY") as failure:
        await install(installation, lock)
    assert not failure.value.may_retry
    assert repository.requests[path] == 1


async def test_a_repository_that_stays_away_is_given_up_and_may_be_tried_later(
    installation: Installation, lock: Lock, repository: Repository, path: str
):
    repository.faults[path] += [status(503)] * PATIENCE.tries
    with pytest.raises(RepositoryFailed, match="503") as failure:
        await install(installation, lock)
    assert failure.value.may_retry
    assert repository.requests[path] == PATIENCE.tries
    await install(installation, lock)


async def test_without_a_network_the_failure_says_what_to_check(installation: Installation, lock: Lock):
    with refusing_port() as port:
        address = f"http://127.0.0.1:{port}/"
        offline = Installation(installation.root, lambda: address, PATIENCE)
        with pytest.raises(RepositoryFailed, match=r"no connection.*Check the network"):
            await install(offline, lock)


async def test_a_password_of_the_repository_is_in_no_text(
    installation: Installation, lock: Lock, repository: Repository, path: str
):
    address = repository.address.replace("http://", "http://ann:hidden@")
    with_login = Installation(installation.root, lambda: address, PATIENCE)

    async def refusal(code: int) -> str:
        repository.faults[path] = [status(code)] * PATIENCE.tries
        with pytest.raises((RepositoryFailed, RepositoryRefused)) as failure:
            await install(with_login, lock)
        return failure.value.message

    told = {code: await refusal(code) for code in (401, 403, 404, 503)}
    assert {code: message for code, message in told.items() if "hidden" in message or "ann" in message} == {}


async def test_a_login_in_the_address_is_sent(
    installation: Installation, lock: Lock, repository: Repository, path: str
):
    sent = []

    def note(handler: Handler, content: bytes) -> None:
        sent.append(handler.headers["Authorization"])
        handler.serve(content)

    repository.faults[path] += [note]
    address = repository.address.replace("http://", "http://ann:hidden@")
    await install(Installation(installation.root, lambda: address, PATIENCE), lock)
    assert sent == ["Basic YW5uOmhpZGRlbg=="]
