from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage.locations import MAX_LENGTH, Location, Scheme, parse_location, split_locations

BASE = parse_location("s3://lake/team")


@pytest.mark.parametrize(
    ("text", "scheme", "store", "key"),
    [
        ("s3://lake/a/b.sh", Scheme.S3, "lake", "a/b.sh"),
        ("s3a://lake/a", Scheme.S3, "lake", "a"),
        ("S3://lake/a", Scheme.S3, "lake", "a"),
        ("gs://lake/a", Scheme.GS, "lake", "a"),
        ("gcs://lake/a", Scheme.GS, "lake", "a"),
        ("az://lake/a", Scheme.AZ, "lake", "a"),
        ("file:///data/a b.sh", Scheme.FILE, "", "data/a b.sh"),
        ("file://localhost/data/a", Scheme.FILE, "", "data/a"),
        ("https://Example.ORG/a%20b.sh", Scheme.HTTPS, "example.org", "a%20b.sh"),
        ("https://[::1]:8443/a", Scheme.HTTPS, "[::1]:8443", "a"),
        ("http://127.0.0.1:9/a", Scheme.HTTP, "127.0.0.1:9", "a"),
        ("  s3://lake/a \n", Scheme.S3, "lake", "a"),
        ("daily/run.sh", Scheme.S3, "lake", "team/daily/run.sh"),
        ("/daily/run.sh", Scheme.S3, "lake", "team/daily/run.sh"),
        ("2026-11-21T10:00.sh", Scheme.S3, "lake", "team/2026-11-21T10:00.sh"),
    ],
)
def test_a_location_is_read_as_its_store_reads_it(text, scheme, store, key):
    location = parse_location(text, base=BASE)
    assert (location.scheme, location.store, location.key) == (scheme, store, key)


def test_a_storage_account_named_in_a_location_is_kept():
    location = parse_location("abfss://lake@acme.dfs.core.windows.net/a/b.sh")
    assert (location.store, location.account_name, location.key) == ("lake", "acme", "a/b.sh")
    assert str(location) == "abfss://lake@acme.dfs.core.windows.net/a/b.sh"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("ftp://host/a", "unknown scheme"),
        ("s3://lake/../other", "'..'"),
        ("../other", "'..'"),
        ("a/./b", "'.'"),
        ("a//b", "empty part"),
        ("s3://lake//a", "empty part"),
        ("s3:///a", "bucket"),
        ("s3://la ke/a", "bucket"),
        ("s3://evil.example.org@lake/a", "bucket"),
        ("s3://lake?x/a", "bucket"),
        ("file://host/a", "absolute path"),
        ("file://", "absolute path"),
        ("file:///a/../../etc/passwd", "'..'"),
        ("az://Lake/a", "az://container/path"),
        ("abfss://lake@evil.example.org/a", "az://container/path"),
        ("https://", "host"),
        ("https:///a", "host"),
        ("https://ho st/a", "host"),
        ("https://host\\@other/a", "user"),
        ("https://host:port/a", "not a valid URL"),
        ("https://[::1/a", "not a valid URL"),
        ("http://example.org/a", "https://"),
        ("http://127.0.0.1.example.org/a", "https://"),
        ("a\0b", "control character"),
        ("a\nb", "control character"),
        ("s3://lake/\ud800", "control character"),
        ("x" * (MAX_LENGTH + 1), "longer than"),
    ],
)
def test_a_location_that_cannot_be_is_refused_with_the_reason(text, reason):
    with pytest.raises(Invalid, match=r".") as refusal:
        parse_location(text, base=BASE)
    assert reason in refusal.value.message
    refusal.value.message.encode()


def test_a_location_without_a_scheme_needs_a_base():
    with pytest.raises(Invalid, match="no scheme"):
        parse_location("a/b")


@pytest.mark.parametrize(
    "text",
    [
        "https://reader:secret@example.org/a",
        "https://secret@example.org/a",
        "ftp://reader:secret@example.org/a",
        "http://example.org/a?token=secret",
        "nowhere://example.org/a?token=secret",
        "https://example.org:port/a?token=secret",
        "https://example.org/" + "a" * MAX_LENGTH + "?token=secret",
        "https://reader:secret@example.org/\0",
    ],
)
def test_a_refusal_shows_no_secret_of_the_location(text):
    with pytest.raises(Invalid, match=r".") as refusal:
        parse_location(text)
    assert "token" not in refusal.value.message
    assert "secret" not in refusal.value.message


def test_a_signed_url_keeps_its_query_and_shows_it_nowhere():
    location = parse_location("https://example.org/a.sh?signature=a%2Fb&x=1#part")
    assert location.url == "https://example.org/a.sh?signature=a%2Fb&x=1"
    assert "signature" not in str(location) + repr(location)


def test_percent_signs_are_decoded_in_urls_only():
    assert parse_location("https://example.org/a%20b.sh").name == "a b.sh"
    assert parse_location("s3://lake/a%20b.sh").name == "a%20b.sh"
    assert parse_location("file:///data/%2e%2e/a").path.parts == ("/", "data", "%2e%2e", "a")


@pytest.mark.parametrize(
    "text",
    [
        "s3://lake",
        "s3://lake/",
        "s3://lake/a/",
        "https://example.org/",
        "https://example.org/a%2Fb",
        "https://example.org/%2e%2e",
        "https://example.org/%00",
        "s3://lake/" + "é" * 128,
    ],
)
def test_a_location_without_a_usable_file_name_has_none(text):
    with pytest.raises(Invalid):
        _ = parse_location(text).name


@pytest.mark.parametrize(
    ("base", "other", "covered"),
    [
        ("s3://lake", "s3://lake/a", True),
        ("s3://lake/team", "s3://lake/team/a/b", True),
        ("s3://lake/team/", "s3://lake/team/a", True),
        ("s3://lake/team", "s3://lake/team", True),
        ("s3://lake/team", "s3://lake/team2/a", False),
        ("s3://lake/team", "s3://lake/a", False),
        ("s3://lake", "s3://lake2/a", False),
        ("s3://lake", "gs://lake/a", False),
        ("az://lake", "abfss://lake@acme.dfs.core.windows.net/a", False),
        ("abfss://lake@acme.dfs.core.windows.net", "az://lake/a", True),
        ("abfss://lake@acme.dfs.core.windows.net", "abfss://lake@other.dfs.core.windows.net/a", False),
    ],
)
def test_a_base_covers_what_lies_under_it_by_whole_segments(base, other, covered):
    assert parse_location(base).covers(parse_location(other)) is covered


def test_a_list_of_locations_is_split_at_commas():
    assert split_locations(" s3://a/b ,, c ,") == ["s3://a/b", "c"]
    assert split_locations(None) == []


@given(st.text())
def test_any_text_is_a_location_or_a_refusal(text):
    try:
        location = parse_location(text, base=BASE)
    except Invalid as refusal:
        refusal.message.encode()
    else:
        str(location).encode()
        if location.scheme is Scheme.S3:
            assert ".." not in location.key.split("/")


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b", "%2e%2e", "..a", "/"]), min_size=1))
def test_a_location_without_a_scheme_never_leaves_its_base(parts):
    base = Location(Scheme.FILE, "", "data/storage")
    try:
        location = parse_location("/".join(parts), base=base)
    except Invalid:
        return
    assert base.covers(location)
    assert ".." not in location.path.parts


@given(
    st.sampled_from(["s3://lake/", "gs://lake/", "file:///"]), st.from_regex(r"[^/\x00-\x1f\x7f]{1,20}", fullmatch=True)
)
def test_the_name_of_a_file_is_one_segment(prefix, name):
    try:
        location = parse_location(prefix + "folder/" + name)
        found = location.name
    except Invalid:
        return
    assert found in (name, name.rstrip())  # a location has no white space at its ends
    assert "/" not in found
