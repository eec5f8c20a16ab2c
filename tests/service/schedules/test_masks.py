from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from svc_jupyter.service.schedules.dependencies import check_mask, render

WALL = datetime(2026, 3, 7, 5, 4, tzinfo=ZoneInfo("Europe/Paris"))


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ("s3://lake/%Y/%m/%d/%H", "s3://lake/2026/03/07/05"),
        ("%-m-%-d %-H", "3-7 5"),
        ("%Y%m%d%H%M%S", "20260307050400"),
        ("%F %R %j %y", "2026-03-07 05:04 066 26"),
        ("%G-W%V-%u", "2026-W10-6"),
        ("%b %B %a %A %I%p", "Mar March Sat Saturday 05AM"),
        ("%z %Z", "+0100 CET"),
        ("100%% %%Y", "100% %Y"),
        ("é/\U0001f600/plain", "é/\U0001f600/plain"),
        ("", ""),
    ],
)
def test_directives_become_the_wall_time_s(mask, text):
    check_mask(mask)
    assert render(mask, WALL) == text


@pytest.mark.parametrize(
    ("mask", "shown"),
    [("a%20b", "'%2'"), ("%Q", "'%Q'"), ("%s", "'%s'"), ("%c", "'%c'"), ("50%", "'%'"), ("%-Y", "'%-'")],
)
def test_a_percent_sign_that_begins_no_directive_is_refused(mask, shown):
    with pytest.raises(ValueError, match="is not a date directive") as error:
        check_mask(mask)
    assert str(error.value).startswith(shown)
    assert "write %% for a percent sign" in str(error.value)
