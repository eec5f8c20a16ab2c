"""Idempotency keys: the same call answers with its first answer and creates nothing."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid, StateConflict
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.http import idempotency
from svc_jupyter.service.http.idempotency import KEEP_SECONDS, Answer, Idempotency, IdempotentCall, identify
from svc_jupyter.service.schema.commands import idempotency_keys


@pytest.fixture
def idempotent(database: Database, account_id: int, tmp_path: Path) -> Idempotency:
    return Idempotency(database, SecretBox(tmp_path / "secret.key"))


def call(key: str = "key", body: bytes = b"{}", user: int = 1) -> IdempotentCall:
    return identify(user, key, "POST", "/api/v1.2/db_taps", body)


@pytest.mark.both_databases
async def test_the_first_call_goes_through_and_the_second_gets_its_answer(idempotent: Idempotency):
    assert await idempotent.begin(call()) is None
    answer = Answer(200, '{"token": "grün"}'.encode())
    await idempotent.complete(call(), answer)
    assert await idempotent.begin(call()) == answer
    assert await idempotent.begin(call()) == answer


async def test_an_answer_is_sealed_at_rest(idempotent: Idempotency, database: Database):
    await idempotent.begin(call())
    await idempotent.complete(call(), Answer(200, b'{"token": "hunter2"}'))
    with database.connect() as connection:
        stored = connection.execute(sa.select(idempotency_keys.c.answer)).scalar_one()
    assert "hunter2" not in stored


async def test_another_body_with_the_key_is_refused(idempotent: Idempotency):
    await idempotent.begin(call())
    with pytest.raises(Invalid, match="used for another request"):
        await idempotent.begin(call(body=b'{"a": 1}'))


@pytest.mark.both_databases
async def test_while_the_first_is_under_way_the_second_is_reported_so(idempotent: Idempotency):
    outcomes = await asyncio.gather(*(idempotent.begin(call()) for _ in range(8)), return_exceptions=True)
    assert outcomes.count(None) == 1
    assert [type(outcome) for outcome in outcomes].count(StateConflict) == 7


async def test_an_error_is_no_answer_so_that_the_key_can_be_used_again(idempotent: Idempotency):
    await idempotent.begin(call())
    await idempotent.complete(call(), Answer(422, b"{}"))
    assert await idempotent.begin(call(body=b'{"better": true}')) is None


async def test_a_key_belongs_to_its_user(idempotent: Idempotency, database: Database, account_id: int):
    with database.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO users (id, account_id, email, name, enabled, created_at) "
                "VALUES (9, 1, 'x@y', 'x', true, 0)"
            )
        )
    assert await idempotent.begin(call()) is None
    assert await idempotent.begin(call(user=9, body=b"other")) is None


async def test_a_key_can_be_used_again_after_a_day(idempotent: Idempotency, database: Database):
    await idempotent.begin(call())
    with database.begin() as connection:
        connection.execute(sa.update(idempotency_keys).values(created_at=time.time() - KEEP_SECONDS - 1))
    assert await idempotent.begin(call(body=b"other")) is None
    await idempotent.forget_old()
    with database.begin() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(idempotency_keys)).scalar() == 1
        connection.execute(sa.update(idempotency_keys).values(created_at=time.time() - KEEP_SECONDS - 1))
    await idempotent.forget_old()
    with database.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(idempotency_keys)).scalar() == 0


@pytest.mark.both_databases
async def test_another_replica_that_was_faster_by_a_moment_is_noticed(
    idempotent: Idempotency, monkeypatch: pytest.MonkeyPatch
):
    await idempotent.begin(call())
    monkeypatch.setattr("svc_jupyter.service.http.idempotency.first_answer", lambda *_: None)
    with pytest.raises(StateConflict):
        await idempotent.begin(call())


def test_a_key_has_1_to_255_characters():
    def refusal(key: str) -> str:
        with pytest.raises(Invalid) as refused:
            identify(1, key, "POST", "/x", b"")
        return refused.value.message

    assert [refusal(key) for key in ("", "  ", "k" * 256)] == ["Idempotency-Key must have 1 to 255 characters"] * 3


def test_a_call_is_identified_by_method_path_and_body():
    first = identify(1, "k", "POST", "/x", b"{}")
    assert identify(1, "k", "POST", "/x/", b"{}") == first
    others = [("PUT", "/x", b"{}"), ("POST", "/y", b"{}"), ("POST", "/x", b"")]
    assert first.digest not in {identify(1, "k", *other).digest for other in others}


@pytest.mark.both_databases
async def test_the_database_itself_refuses_a_second_row_of_a_key(idempotent: Idempotency, database: Database):
    await idempotent.begin(call())
    with pytest.raises(IntegrityError):
        await database.write(lambda connection: idempotency.remember(connection, call(), 200, "x"))
