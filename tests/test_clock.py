"""Times as text on the reader's clock."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from svc_jupyter.clock import as_of_text, named_time, short_time

NOW = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)
SHOWN = {
    datetime(2026, 11, 21, 8, tzinfo=UTC): "09:00",
    datetime(2026, 11, 21, 8, 0, 7, tzinfo=UTC): "09:00:07",
    datetime(2026, 11, 22, 1, tzinfo=ZoneInfo("Asia/Tokyo")): "17:00",
    datetime(2026, 11, 21, 23, 30, tzinfo=UTC): "Sun 22 Nov 00:30",
    datetime(2026, 10, 1, 8, tzinfo=UTC): "Thu 1 Oct 10:00",  # summer time
    datetime(2026, 12, 31, 23, tzinfo=UTC): "Fri 1 Jan 2027 00:00",
    datetime(9999, 12, 31, 23, 59, tzinfo=UTC): "Fri 31 Dec 9999 23:59:59",  # its year in Paris would be 10000
    None: "never",
}

pytestmark = pytest.mark.usefixtures("in_paris")


def test_a_time_has_its_date_unless_it_is_of_today_on_the_readers_clock():
    assert {moment: short_time(moment, NOW) for moment in SHOWN} == SHOWN


def test_a_time_alone_names_the_zone():
    assert named_time(datetime(2026, 11, 22, 8, tzinfo=UTC), NOW) == "Sun 22 Nov 09:00 (Europe/Paris)"
    assert named_time(None, NOW) == "never"
    assert as_of_text(NOW) == "as of 16:30:00 (Europe/Paris)"
