from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.access.tokens import expiry
from svc_jupyter.service.ground.errors import Invalid

NOW = datetime(2031, 1, 1, tzinfo=UTC).timestamp()


def test_no_time_means_never():
    assert expiry(None, NOW) is None


def test_forms_of_iso_8601_are_understood_and_without_offset_they_are_utc():
    texts = ["2031-06-01T12:00:00Z", "2031-06-01T14:00:00+02:00", "2031-06-01 12:00", "20310601T120000"]
    noon = datetime(2031, 6, 1, 12, tzinfo=UTC).timestamp()
    assert {text: expiry(text, NOW) for text in texts} == dict.fromkeys(texts, noon)


def refusal(text: str) -> str:
    with pytest.raises(Invalid) as refused:
        expiry(text, NOW)
    return refused.value.message


def test_a_time_that_is_not_in_the_future_is_refused():
    past = ["2030-12-31T23:59:59Z", "2031-01-01T00:00:00Z", "2031-01-01T00:00:00.9Z"]
    assert {text: refusal(text) for text in past} == dict.fromkeys(past, "expires_at: must be in the future")


def test_a_malformed_time_is_refused():
    malformed = ["", "tomorrow", "2031-13-01", "9999-12-31T23:59:59-23:59", "2031-06-01T12:00\x00"]
    told = "expires_at: must be an ISO 8601 time such as 2031-05-31T18:00:00Z"
    assert {text: refusal(text) for text in malformed} == dict.fromkeys(malformed, told)


@given(st.text(max_size=40) | st.datetimes().map(datetime.isoformat))
def test_any_text_is_a_time_in_the_future_or_refused(text):
    try:
        seconds = expiry(text, NOW)
    except Invalid:
        return
    assert seconds is not None
    assert seconds > NOW
    assert datetime.fromtimestamp(seconds, UTC).year <= 9999
