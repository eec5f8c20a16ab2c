from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.workspace.contents_paths import (
    copy_names,
    free_names,
    is_shown,
    parse_path,
    user_root,
)

_EMAIL = r"[^@\s<>\"'&\x00-\x1f]{1,20}@[^@\s<>\"'&\x00-\x1f]{1,20}"
EMAILS = st.from_regex(_EMAIL, fullmatch=True).map(str.lower)
"""What an invitation takes, as it is stored."""
PRINTABLE = st.from_regex(_EMAIL, fullmatch=True, alphabet=st.characters(exclude_categories="CZ")).map(str.lower)
PIECES = st.sampled_from(
    ["Common", "Users", "ann@example.org", "..", ".", "", "a", "b.ipynb", ".hidden", "\0", "%2e%2e", "é"]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=8).map("/".join))
def test_a_path_is_refused_or_holds_only_names_below_a_root(text: str):
    try:
        path = parse_path(text)
    except (Invalid, NotFound):
        return
    assert path.parts[:1] in ((), ("Common",), ("Users",))
    for part in path.parts:
        assert part in text
        assert not part.startswith(".")
        assert not set(part) & {"/", "\0", "\n"}
    assert parse_path(f"//{path}/") == path


@given(PRINTABLE, EMAILS)
def test_every_user_has_one_folder_and_no_two_share_it(first: str, second: str):
    assert first.isprintable()
    root = user_root(first)
    assert parse_path(str(root)) == root
    assert root.is_root
    assert (root / "x").owner == first.lower()
    assert (user_root(second) == root) is (first == second)


def test_an_address_that_looks_like_a_path_is_one_name():
    emails = ("../../x@y", "a/b@c", ".x@y", "a%2Fb@c", "%2e%2e/x@y", "..@..", "a\\b@c")
    paths = [parse_path(f"{user_root(email)}/work/a.ipynb") for email in emails]
    assert [path.owner for path in paths] == [email.lower() for email in emails]
    assert {path.inside for path in paths} == {("work", "a.ipynb")}


HIDDEN = "names that begin with a dot are hidden and not served"
CONTROL = "holds a control character or an override of the direction of writing"
REFUSED = {
    "Common/../Users/x": f"path: '..': {HIDDEN}",
    "Common/./x": f"path: '.': {HIDDEN}",
    "Common/.git/config": f"path: '.git': {HIDDEN}",
    "Common/a\0b": f"path: 'a\N{REPLACEMENT CHARACTER}b' {CONTROL}",
    "Common/a\x9bb": f"path: 'a\N{REPLACEMENT CHARACTER}b' {CONTROL}",
    "Common/\ud800": f"path: '\N{REPLACEMENT CHARACTER}' {CONTROL}",
    "Common/   ": "path: a name must not be blank",
    "Common/" + "é" * 128: f"path: the name '{'é' * 79}…' is longer than 255 bytes",
    "Common/" + "a/" * 64: "path: is deeper than 64 folders",
    "Common/" + "a" * 5000: "path: has more than 4096 characters",
    "Users/a%00b@c/x": "path: 'a%00b@c' is not an e-mail address",
}


def test_a_name_that_cannot_be_is_reported_with_the_reason():
    def refusal(text: str) -> str:
        with pytest.raises(Invalid) as refused:
            parse_path(text)
        return refused.value.message

    assert {text: refusal(text) for text in REFUSED} == REFUSED


def test_a_path_outside_the_roots_is_not_found():
    with pytest.raises(NotFound, match="begin with Common or Users/<e-mail>"):
        parse_path("common/a.ipynb")


def test_free_names_are_numbered_as_jupyter_numbers_them():
    def first_three(names):
        return list(islice(names, 3))

    assert first_three(free_names("Untitled.ipynb")) == ["Untitled.ipynb", "Untitled1.ipynb", "Untitled2.ipynb"]
    assert first_three(free_names("untitled.tar.gz")) == ["untitled.tar.gz", "untitled1.tar.gz", "untitled2.tar.gz"]
    assert first_three(free_names("Untitled Folder", " ")) == [
        "Untitled Folder",
        "Untitled Folder 1",
        "Untitled Folder 2",
    ]
    assert first_three(copy_names("v1.2.ipynb")) == ["v1.2.ipynb", "v1.2-Copy1.ipynb", "v1.2-Copy2.ipynb"]
    assert first_three(copy_names("a-Copy7.ipynb")) == ["a.ipynb", "a-Copy1.ipynb", "a-Copy2.ipynb"]


def test_names_on_disk_that_no_path_can_name_are_not_shown():
    assert [name for name in ("a", ".a", "a\udc80", "a\nb", " ") if is_shown(name)] == ["a"]
