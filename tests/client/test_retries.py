from datetime import UTC, datetime

import httpx

from svc_jupyter.client.transport.retries import (
    Reach,
    Retries,
    may_repeat,
    reach_of_failure,
    reach_of_status,
    retry_after,
)

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


RETRY_AFTER = {
    None: None,
    "": None,
    "7": 7.0,
    " 0 ": 0.0,
    "Sat, 21 Nov 2026 09:00:30 GMT": 30.0,
    "Sat, 21 Nov 2026 08:59:30 GMT": 0.0,
    "Sat, 21 Nov 2026 09:00:30 -0000": 30.0,
    "soon": None,
    "-3": None,
    "9" * 400: None,
}


def test_retry_after_is_a_number_of_seconds_or_a_date() -> None:
    assert {value: retry_after(value, NOW) for value in RETRY_AFTER} == RETRY_AFTER


def test_the_backoff_doubles_up_to_its_limit() -> None:
    retries = Retries(first=0.2, longest=1.0, jitter=lambda: 1.0)
    assert [retries.backoff(attempt) for attempt in (1, 2, 3, 4, 400)] == [0.2, 0.4, 0.8, 1.0, 1.0]
    assert Retries(first=0.2, jitter=lambda: 0.0).backoff(1) == 0.1


def test_tries_end_by_number_by_time_and_by_a_retry_after_that_is_too_far() -> None:
    retries = Retries(attempts=3, total=10.0, jitter=lambda: 1.0)
    assert retries.pause(2, 0.0, None) == 0.4
    assert retries.pause(3, 0.0, None) is None
    assert retries.pause(1, 9.9, None) is None
    assert retries.pause(1, 0.0, 10.0) == 10.0
    assert retries.pause(1, 0.0, 10.1) is None


REACHES = {
    httpx.ConnectError("refused"): Reach.NOT_SENT,
    httpx.ConnectTimeout("late"): Reach.NOT_SENT,
    httpx.PoolTimeout("busy"): Reach.NOT_SENT,
    httpx.ReadError("reset"): Reach.MAYBE_DONE,
    httpx.ReadTimeout("late"): Reach.MAYBE_DONE,
    httpx.RemoteProtocolError("gone"): Reach.MAYBE_DONE,
    httpx.UnsupportedProtocol("ftp"): Reach.ANSWERED,
    httpx.DecodingError("gzip"): Reach.ANSWERED,
}


def test_a_failure_shows_how_far_the_call_came() -> None:
    assert {failure: reach_of_failure(failure) for failure in REACHES} == REACHES


def test_a_status_shows_how_far_the_call_came() -> None:
    assert [reach_of_status(status) for status in (429, 503, 502, 504, 500, 422)] == [
        Reach.REFUSED,
        Reach.REFUSED,
        Reach.MAYBE_DONE,
        Reach.MAYBE_DONE,
        Reach.ANSWERED,
        Reach.ANSWERED,
    ]


METHODS = ("GET", "PUT", "POST", "DELETE")


def test_an_unsent_request_may_be_repeated_and_an_answered_request_may_not() -> None:
    unsent = {
        method: may_repeat(method, Reach.NOT_SENT, idempotent_post=False, has_retry_after=False) for method in METHODS
    }
    answered = {
        method: may_repeat(method, Reach.ANSWERED, idempotent_post=True, has_retry_after=True) for method in METHODS
    }
    assert (unsent, answered) == (dict.fromkeys(METHODS, True), dict.fromkeys(METHODS, False))


REPEATED = {
    ("GET", Reach.MAYBE_DONE, False, False): True,
    ("PUT", Reach.MAYBE_DONE, False, False): True,
    ("POST", Reach.MAYBE_DONE, False, False): False,
    ("POST", Reach.MAYBE_DONE, True, False): True,
    ("DELETE", Reach.MAYBE_DONE, True, False): False,
    ("POST", Reach.REFUSED, False, False): False,
    ("POST", Reach.REFUSED, False, True): True,
    ("DELETE", Reach.REFUSED, False, True): True,
    ("GET", Reach.REFUSED, False, False): True,
}
"""By method, reach, whether a POST is idempotent, and whether there is a Retry-After."""


def test_a_call_is_repeated_only_where_it_can_do_no_harm() -> None:
    found = {
        (method, reach, idempotent, after): may_repeat(method, reach, idempotent_post=idempotent, has_retry_after=after)
        for method, reach, idempotent, after in REPEATED
    }
    assert found == REPEATED
