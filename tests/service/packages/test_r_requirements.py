"""What may be asked for as a package of R, and what follows from locks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.packages.r_requirements import R
from svc_jupyter.service.packages.r_sources import Source, read_lock, write_lock

SOURCES = [Source("data.table", "1.15.4", "0" * 64), Source("Matrix", "1.2-18", "1" * 64)]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/data.table_1.0.tar.gz",
        "./data.table",
        "/etc/passwd",
        "tidyverse/dplyr",
        "data.table==1.0; quit()",
        "data.table==1.0\nggplot2",
        "data.table~=1.0",
        "data.table<2",
        "data.table==",
        "data.table==1.0.",
        "data.table==$(touch x)",
        "-x",
        ".hidden",
        "a",
        "dot.",
        "zwei_teile",
        "Größe",
        "data.table\x00",
        "",
        "  ",
    ],
)
def test_what_is_no_package_with_a_version_is_refused(text: str):
    with pytest.raises(Invalid, match="packages: "):
        R.parsed([text])


@given(st.text(max_size=40))
def test_whatever_is_taken_is_one_line_that_is_read_as_it_is_kept(text: str):
    try:
        [kept] = R.merged([], [text])
    except Invalid:
        return
    assert R.read(kept).text == kept
    assert kept[0].isalpha()
    assert kept.isascii()
    assert len(kept.split()) == 1


def test_names_and_versions_stay_as_they_are_written():
    assert R.merged([], [" data.table == 1.15-4 ", "Matrix>= 1"]) == ["Matrix>=1", "data.table==1.15-4"]
    assert R.merged(["data.table==1.0"], ["data.table"]) == ["data.table"]
    assert [asked.name for asked in R.parsed(["Rcpp", "rcpp"])] == ["Rcpp", "rcpp"]
    with pytest.raises(Invalid, match=r"data\.table is named twice"):
        R.parsed(["data.table", "data.table>=1"])


def test_a_package_is_removed_by_its_very_name():
    assert R.without(["Matrix", "data.table"], ["Matrix==9"]) == ["data.table"]
    with pytest.raises(Invalid, match="matrix was not added to this environment \\(it holds Matrix\\)"):
        R.without(["Matrix"], ["matrix"])


def test_a_lock_is_read_as_it_was_written():
    lock = write_lock(SOURCES)
    assert read_lock(lock) == [SOURCES[1], SOURCES[0]]
    assert R.pins(lock) == ["Matrix==1.2-18", "data.table==1.15.4"]
    assert R.pins_of(["data.table>=1.0"], lock) == ["data.table==1.15.4"]
    assert R.changes(lock, write_lock(SOURCES[:1])) == "Matrix 1.2-18 removed"
    assert read_lock(None) == []
