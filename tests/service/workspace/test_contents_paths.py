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


@pytest.mark.parametrize("email", ["../../x@y", "a/b@c", ".x@y", "a%2Fb@c", "%2e%2e/x@y", "..@..", "a\\b@c"])
def test_an_address_that_looks_like_a_path_is_one_name(email: str):
    path = parse_path(f"{user_root(email)}/work/a.ipynb")
    assert (path.owner, path.inside) == (email.lower(), ("work", "a.ipynb"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Common/../Users/x", "hidden"),
        ("Common/./x", "hidden"),
        ("Common/.git/config", "hidden"),
        ("Common/a\0b", "control character"),
        ("Common/a\x9bb", "control character"),
        ("Common/\ud800", "control character"),
        ("Common/   ", "blank"),
        ("Common/" + "é" * 128, "longer than 255 bytes"),
        ("Common/" + "a/" * 64, "deeper than 64"),
        ("Common/" + "a" * 5000, "4096 characters"),
        ("Users/a%00b@c/x", "not an e-mail address"),
    ],
)
def test_a_name_that_cannot_be_is_reported_with_the_reason(text: str, reason: str):
    with pytest.raises(Invalid, match=reason) as raised:
        parse_path(text)
    assert raised.value.message.startswith("path: ")
    assert raised.value.message.isprintable()
    assert len(raised.value.message) < 300


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
