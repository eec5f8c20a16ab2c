"""What may be asked for as a package of Python and of R, and what follows from locks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.packages.languages import PYTHON, R
from svc_jupyter.service.packages.r_sources import Source, read_lock, write_lock
from svc_jupyter.service.packages.requirements import Requirements

LOCK = """asttokens==3.0.2 \\
    --hash=sha256:3ecdbd8f2cc195f53ccada3a613538bb5f9ef6f6869129f13e03c30a677b8fe2
Six==1.16.0 \\
    --hash=sha256:1e61c37477a1626458e36f7b1d82aa5c9b094fa4802892072e49de9c60c4c926
zope.interface==7.2
"""
SOURCES = [Source("data.table", "1.15.4", "0" * 64), Source("Matrix", "1.2-18", "1" * 64)]


def refusal(language: Requirements, text: str) -> str:
    with pytest.raises(Invalid) as refused:
        language.parsed([text])
    return refused.value.message


# Python


def test_a_python_requirement_that_is_not_a_plain_package_of_the_index_is_refused():
    no_name = [
        "--index-url=https://evil.example.org/simple",
        "-r /etc/passwd",
        "-e .",
        "./here",
        "/etc/passwd",
        "file:///etc/passwd",
        "git+https://example.org/six.git",
        "https://example.org/six.whl",
        "six==1.16.0 --hash=sha256:00",
        "six==1.16.0 # comment",
        "$(touch /tmp/x)",
        "",
        "  ",
        "six_",
        "six._-==1.16.0",
    ]
    several_lines = "six==1.16.0\n--index-url=https://evil.example.org"
    by_url = "packages: six is asked for by a URL; packages come from the index by their names"
    refused = {
        text: f"packages: {text!r} is not a package of the index; name it with its version, as in six==1.16.0"
        for text in no_name
    } | {
        "six @ https://example.org/six.whl": by_url,
        "six @ file:///etc/passwd": by_url,
        "six; python_version < '3'": "packages: six has a marker; an environment has one Python, so leave it out",
        several_lines: f"packages: {several_lines!r} holds control characters",
        "six\x00": r"packages: 'six\x00' holds control characters",
    }
    assert {text: refusal(PYTHON, text) for text in refused} == refused


@given(st.text(max_size=40))
@example("0_")  # a name for the parser of requirements, and none of the index
def test_whatever_is_taken_is_one_line_that_names_a_package_and_no_option(text: str):
    try:
        kept = PYTHON.merged([], [text])
    except Invalid:
        return
    assert [Requirement(line).url for line in kept] == [None]
    assert all(line[0].isalnum() and len(line.splitlines()) == 1 and " " not in line for line in kept)


def test_an_added_package_takes_the_place_of_the_one_with_its_name():
    assert PYTHON.merged([], ["six==1.16.0"]) == ["six==1.16.0"]
    assert PYTHON.merged(["six==1.16.0"], ["Six==1.17.0"]) == ["six==1.17.0"]
    both = ["requests[socks]<3,>=2", "zope-interface"]
    assert PYTHON.merged(["zope-interface"], ["requests[socks] >= 2, < 3"]) == both
    assert PYTHON.merged(["zope-interface==7.2"], ["zope.interface"]) == ["zope-interface"]


def test_a_package_that_is_named_twice_is_refused():
    with pytest.raises(Invalid, match="zope-interface is named twice"):
        PYTHON.merged([], ["zope.interface==1", "Zope_Interface==2"])


def test_a_package_is_removed_by_its_name():
    assert PYTHON.without(["six==1.16.0", "toolz"], ["SIX==9"]) == ["toolz"]


@pytest.mark.parametrize(("there", "told"), [(["toolz"], "it holds toolz"), ([], "nothing was added")])
def test_a_package_that_was_not_added_is_not_removed(there, told):
    with pytest.raises(Invalid, match=f"six was not added to this environment \\({told}"):
        PYTHON.without(there, ["six"])


def test_a_lock_reports_its_packages_and_not_its_hashes():
    assert PYTHON.locked(LOCK) == {"asttokens": "3.0.2", "six": "1.16.0", "zope-interface": "7.2"}
    assert PYTHON.pins(LOCK) == ["asttokens==3.0.2", "six==1.16.0", "zope-interface==7.2"]
    assert PYTHON.pins_of(["six>=1", "zope-interface"], LOCK) == ["six==1.16.0", "zope-interface==7.2"]
    assert PYTHON.pins(None) == []


def test_differences_between_two_locks_are_reported():
    after = "six==1.17.0\ntoolz==1.2\nzope.interface==7.2\n"
    assert PYTHON.changes(None, LOCK) == "3 packages installed"
    assert PYTHON.changes(LOCK, LOCK) == "nothing changed"
    assert PYTHON.changes(LOCK, after) == "toolz 1.2 added, asttokens 3.0.2 removed, six 1.16.0 → 1.17.0"


# R


def test_an_invalid_r_requirement_is_refused():
    no_name = [
        "https://example.org/data.table_1.0.tar.gz",
        "./data.table",
        "/etc/passwd",
        "tidyverse/dplyr",
        "data.table==1.0; quit()",
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
        "",
        "  ",
    ]
    refused = {
        text: f"packages: {text!r} is not a package of R; name it, also with its version, "
        "as in data.table==1.15.4 or data.table>=1.14"
        for text in no_name
    } | {
        "data.table==1.0\nggplot2": r"packages: 'data.table==1.0\nggplot2' holds control characters",
        "data.table\x00": r"packages: 'data.table\x00' holds control characters",
    }
    assert {text: refusal(R, text) for text in refused} == refused


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
