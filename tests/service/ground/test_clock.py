"""Times as the API writes them."""

from __future__ import annotations

from svc_jupyter.service.ground.clock import iso_time


def test_a_time_is_written_in_utc_and_never_rounded_up():
    assert iso_time(1.9999999) == "1970-01-01T00:00:01Z"
    assert iso_time(1.2345678, "milliseconds") == "1970-01-01T00:00:01.234Z"
    assert iso_time(1, "microseconds") == "1970-01-01T00:00:01.000000Z"
