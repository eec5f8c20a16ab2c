from __future__ import annotations

import os

from svc_jupyter.service.workspace.contents_models import bare_model, timestamp
from svc_jupyter.service.workspace.contents_paths import parse_path


def test_a_time_is_utc_and_the_epoch_beyond_the_calendar():
    times = {
        0.5: "1970-01-01T00:00:00.500000Z",
        1_800_000_000: "2027-01-15T08:00:00.000000Z",
        -1: "1969-12-31T23:59:59.000000Z",
        2.0**60: "1970-01-01T00:00:00.000000Z",
        -(2.0**60): "1970-01-01T00:00:00.000000Z",
        float("inf"): "1970-01-01T00:00:00.000000Z",
    }
    assert {seconds: timestamp(seconds) for seconds in times} == times


def test_a_file_is_not_made_after_its_last_change(tmp_path):
    """A copied file keeps its time; the system knows only when the copy was made."""
    file = tmp_path / "old.py"
    file.write_text("x = 1")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    model = bare_model(parse_path("Common/old.py"), file.stat())
    assert model.created == model.last_modified == "2001-09-09T01:46:40.000000Z"
    assert (model.type, model.mimetype, model.size, model.writable) == ("file", "text/x-python", 5, True)
