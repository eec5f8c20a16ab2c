from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage.locations import MAX_LENGTH, Location, Scheme, parse_location, split_locations

BASE = parse_location("s3://lake/team")


READ = {
    "s3://lake/a/b.sh": (Scheme.S3, "lake", "a/b.sh"),
    "s3a://lake/a": (Scheme.S3, "lake", "a"),
    "S3://lake/a": (Scheme.S3, "lake", "a"),
    "gs://lake/a": (Scheme.GS, "lake", "a"),
    "gcs://lake/a": (Scheme.GS, "lake", "a"),
    "az://lake/a": (Scheme.AZ, "lake", "a"),
    "file:///data/a b.sh": (Scheme.FILE, "", "data/a b.sh"),
    "file://localhost/data/a": (Scheme.FILE, "", "data/a"),
    "https://Example.ORG/a%20b.sh": (Scheme.HTTPS, "example.org", "a%20b.sh"),
    "https://[::1]:8443/a": (Scheme.HTTPS, "[::1]:8443", "a"),
    "http://127.0.0.1:9/a": (Scheme.HTTP, "127.0.0.1:9", "a"),
    "  s3://lake/a \n": (Scheme.S3, "lake", "a"),
    "daily/run.sh": (Scheme.S3, "lake", "team/daily/run.sh"),
    "/daily/run.sh": (Scheme.S3, "lake", "team/daily/run.sh"),
    "2026-11-21T10:00.sh": (Scheme.S3, "lake", "team/2026-11-21T10:00.sh"),
}


def test_a_location_is_read_as_its_store_reads_it():
    locations = {text: parse_location(text, base=BASE) for text in READ}
    assert {text: (found.scheme, found.store, found.key) for text, found in locations.items()} == READ


def test_a_storage_account_named_in_a_location_is_kept():
    location = parse_location("abfss://lake@acme.dfs.core.windows.net/a/b.sh")
    assert (location.store, location.account_name, location.key) == ("lake", "acme", "a/b.sh")
    assert str(location) == "abfss://lake@acme.dfs.core.windows.net/a/b.sh"


EMPTY = "a location is empty"
UNKNOWN = "has an unknown scheme; known are file://, s3://, gs://, az://, abfss:// and https://"
DOTS = "must not hold '.' or '..' as a part of its path"
EMPTY_PART = "has an empty part in its path ('//')"
NO_BUCKET = "has no valid bucket: s3://bucket/key"
NOT_ABSOLUTE = "must name an absolute path: file:///folder/name"
NO_CONTAINER = "must be az://container/path or abfss://container@account.dfs.core.windows.net/path"
NO_HOST = "names no valid host"
LOGIN = "must not hold a user or a password; use a signed URL"
NO_URL = "is not a valid URL"
PLAIN = "must use https://: what comes over plain http can be altered on its way"
CONTROL = "holds a control character"
REFUSED = {
    "": EMPTY,
    "   ": EMPTY,
    "ftp://host/a": f"the location ftp://host/a {UNKNOWN}",
    "s3://lake/../other": f"the location s3://lake/../other {DOTS}",
    "../other": f"the location ../other {DOTS}",
    "a/./b": f"the location a/./b {DOTS}",
    "a//b": f"the location a//b {EMPTY_PART}",
    "s3://lake//a": f"the location s3://lake//a {EMPTY_PART}",
    "s3:///a": f"the location s3:///a {NO_BUCKET}",
    "s3://la ke/a": f"the location s3://la ke/a {NO_BUCKET}",
    "s3://evil.example.org@lake/a": f"the location s3://evil.example.org@lake/a {NO_BUCKET}",
    "s3://lake?x/a": f"the location s3://lake {NO_BUCKET}",
    "file://host/a": f"the location file://host/a {NOT_ABSOLUTE}",
    "file://": f"the location file:// {NOT_ABSOLUTE}",
    "file:///a/../../etc/passwd": f"the location file:///a/../../etc/passwd {DOTS}",
    "az://Lake/a": f"the location az://Lake/a {NO_CONTAINER}",
    "abfss://lake@evil.example.org/a": f"the location abfss://lake@evil.example.org/a {NO_CONTAINER}",
    "https://": f"the location https:// {NO_HOST}",
    "https:///a": f"the location https:///a {NO_HOST}",
    "https://ho st/a": f"the location https://ho st/a {NO_HOST}",
    "https://host\\@other/a": f"the location https://other/a {LOGIN}",
    "https://host:port/a": f"the location https://host:port/a {NO_URL}",
    "https://[::1/a": f"the location https://[::1/a {NO_URL}",
    "http://example.org/a": f"the location http://example.org/a {PLAIN}",
    "http://127.0.0.1.example.org/a": f"the location http://127.0.0.1.example.org/a {PLAIN}",
    "a\0b": f"the location a\ufffdb {CONTROL}",
    "a\nb": f"the location a\ufffdb {CONTROL}",
    "s3://lake/\ud800": f"the location s3://lake/\ufffd {CONTROL}",
    "x" * (MAX_LENGTH + 1): f"the location {'x' * 80}… is longer than 4096 characters",
}


def refusal(text: str, base: Location | None = None) -> str:
    with pytest.raises(Invalid) as refused:
        parse_location(text, base=base)
    return refused.value.message


def test_a_location_that_cannot_be_is_refused_with_the_reason():
    assert {text: refusal(text, BASE) for text in REFUSED} == REFUSED


def test_a_location_without_a_scheme_needs_a_base():
    with pytest.raises(Invalid, match="no scheme"):
        parse_location("a/b")


WITH_SECRETS = {
    "https://reader:secret@example.org/a": f"the location https://example.org/a {LOGIN}",
    "https://secret@example.org/a": f"the location https://example.org/a {LOGIN}",
    "ftp://reader:secret@example.org/a": f"the location ftp://example.org/a {UNKNOWN}",
    "http://example.org/a?token=secret": f"the location http://example.org/a {PLAIN}",
    "nowhere://example.org/a?token=secret": f"the location nowhere://example.org/a {UNKNOWN}",
    "https://example.org:port/a?token=secret": f"the location https://example.org:port/a {NO_URL}",
    "https://example.org/" + "a" * MAX_LENGTH + "?token=secret": (
        f"the location https://example.org/{'a' * 60}… is longer than 4096 characters"
    ),
    "https://reader:secret@example.org/\0": f"the location https://example.org/\ufffd {CONTROL}",
}


def test_a_refusal_shows_no_secret_of_the_location():
    assert {text: refusal(text) for text in WITH_SECRETS} == WITH_SECRETS


def test_a_signed_url_keeps_its_query_and_shows_it_nowhere():
    location = parse_location("https://example.org/a.sh?signature=a%2Fb&x=1#part")
    assert location.url == "https://example.org/a.sh?signature=a%2Fb&x=1"
    assert "signature" not in str(location) + repr(location)


def test_percent_signs_are_decoded_in_urls_only():
    assert parse_location("https://example.org/a%20b.sh").name == "a b.sh"
    assert parse_location("s3://lake/a%20b.sh").name == "a%20b.sh"
    assert parse_location("file:///data/%2e%2e/a").path.parts == ("/", "data", "%2e%2e", "a")


WITHOUT_NAME = {
    "s3://lake": "s3://lake names a folder; give the location of a file",
    "s3://lake/": "s3://lake names a folder; give the location of a file",
    "s3://lake/a/": "s3://lake/a/ names a folder; give the location of a file",
    "https://example.org/": "https://example.org names a folder; give the location of a file",
    "https://example.org/a%2Fb": "https://example.org/a%2Fb has no usable file name at its end",
    "https://example.org/%2e%2e": "https://example.org/%2e%2e has no usable file name at its end",
    "https://example.org/%00": "https://example.org/%00 has no usable file name at its end",
    "s3://lake/" + "é" * 128: f"s3://lake/{'é' * 128}: the file name is longer than 255 bytes",
}


def test_a_location_without_a_usable_file_name_has_none():
    def refusal_of_name(text: str) -> str:
        location = parse_location(text)
        with pytest.raises(Invalid) as refused:
            _ = location.name
        return refused.value.message

    assert {text: refusal_of_name(text) for text in WITHOUT_NAME} == WITHOUT_NAME


COVERED = {
    ("s3://lake", "s3://lake/a"): True,
    ("s3://lake/team", "s3://lake/team/a/b"): True,
    ("s3://lake/team/", "s3://lake/team/a"): True,
    ("s3://lake/team", "s3://lake/team"): True,
    ("s3://lake/team", "s3://lake/team2/a"): False,
    ("s3://lake/team", "s3://lake/a"): False,
    ("s3://lake", "s3://lake2/a"): False,
    ("s3://lake", "gs://lake/a"): False,
    ("az://lake", "abfss://lake@acme.dfs.core.windows.net/a"): False,
    ("abfss://lake@acme.dfs.core.windows.net", "az://lake/a"): True,
    ("abfss://lake@acme.dfs.core.windows.net", "abfss://lake@other.dfs.core.windows.net/a"): False,
}


def test_a_base_covers_what_lies_under_it_by_whole_segments():
    assert {(base, other): parse_location(base).covers(parse_location(other)) for base, other in COVERED} == COVERED


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
