from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from svc_jupyter.service.schedules.dependencies import check_mask, render

WALL = datetime(2026, 3, 7, 5, 4, tzinfo=ZoneInfo("Europe/Paris"))


MASKS = {
    "s3://lake/%Y/%m/%d/%H": "s3://lake/2026/03/07/05",
    "%-m-%-d %-H": "3-7 5",
    "%Y%m%d%H%M%S": "20260307050400",
    "%F %R %j %y": "2026-03-07 05:04 066 26",
    "%G-W%V-%u": "2026-W10-6",
    "%b %B %a %A %I%p": "Mar March Sat Saturday 05AM",
    "%z %Z": "+0100 CET",
    "100%% %%Y": "100% %Y",
    "é/\U0001f600/plain": "é/\U0001f600/plain",
    "": "",
}


def test_directives_become_the_wall_time_s():
    for mask in MASKS:
        check_mask(mask)
    assert {mask: render(mask, WALL) for mask in MASKS} == MASKS


NO_DIRECTIVES = {"a%20b": "'%2'", "%Q": "'%Q'", "%s": "'%s'", "%c": "'%c'", "50%": "'%'", "%-Y": "'%-'"}


def test_a_percent_sign_that_begins_no_directive_is_refused():
    def refusal(mask: str) -> str:
        with pytest.raises(ValueError, match="is not a date directive") as refused:
            check_mask(mask)
        return str(refused.value)

    told = "is not a date directive such as %Y, %m, %d or %H; write %% for a percent sign"
    assert {mask: refusal(mask) for mask in NO_DIRECTIVES} == {
        mask: f"{shown} {told}" for mask, shown in NO_DIRECTIVES.items()
    }
