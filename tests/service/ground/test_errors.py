"""Failures with a text for the user."""

from __future__ import annotations

import pytest

from svc_jupyter.service.ground.errors import Failure, Invalid, NotFound, Unavailable, translated


class EngineGone(Failure):
    """A failure of a room."""


@pytest.mark.parametrize(("about", "text"), [("", "it is gone"), ("db_tap_id", "db_tap_id: it is gone")])
def test_a_failure_becomes_another_kind_with_its_text(about: str, text: str):
    with pytest.raises(Invalid) as raised, translated(EngineGone, NotFound, to=Invalid, about=about):
        raise EngineGone("it is gone")
    assert raised.value.message == text
    assert isinstance(raised.value.__cause__, EngineGone)


def test_other_failures_stay_what_they_are():
    with pytest.raises(Unavailable), translated(EngineGone, to=Invalid):
        raise Unavailable("the database is away")


def test_a_kind_says_whether_a_retry_may_help_and_a_failure_may_say_otherwise():
    assert [EngineGone("").may_retry, Invalid("").may_retry, Unavailable("").may_retry] == [True, False, True]
    assert not EngineGone("", may_retry=False).may_retry
