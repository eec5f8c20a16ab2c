"""The library that Pig knows by another name."""

from __future__ import annotations

import struct
import zipfile

import pytest
from tests.support.engines import engine_for_tests

from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.kinds.pig.command_line import moved, relocated


def utf8(text: bytes) -> bytes:
    return struct.pack(">BH", 1, len(text)) + text


def test_the_texts_of_a_class_file_are_moved_and_the_rest_stays():
    head = b"\xca\xfe\xba\xbe\x00\x00\x00\x34"
    numbers = struct.pack(">BQ", 5, 2**40) + struct.pack(">BH", 7, 1)
    tail = b"\x00\x21 the rest: org/roaringbitmap is not a constant here"
    before = head + struct.pack(">H", 6) + utf8(b"Lorg/roaringbitmap/X;") + numbers + utf8(b"other") + tail
    after = (
        head + struct.pack(">H", 6) + utf8(b"Lorg/apache/pig/org/roaringbitmap/X;") + numbers + utf8(b"other") + tail
    )

    assert relocated(before) == after


def test_names_with_dots_are_moved_too():
    assert moved(b"org.roaringbitmap.Container") == b"org.apache.pig.org.roaringbitmap.Container"


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x02\x63"])
def test_an_invalid_class_file_is_refused(content):
    with pytest.raises(ValueError, match=r"class file|constant"):
        relocated(content)


async def test_the_installed_jar_holds_the_library_under_pigs_name_only():
    pig = await engine_for_tests(Engine.PIG)
    (jar,) = (jar for jar in pig.jars if jar.name == "roaring-bitmap-of-pig.jar")
    with zipfile.ZipFile(jar) as opened:
        names = opened.namelist()
        content = opened.read("org/apache/pig/org/roaringbitmap/RoaringBitmap.class")

    assert all(name.startswith("org/apache/pig/org/roaringbitmap/") for name in names)
    assert content.replace(b"org/apache/pig/org/roaringbitmap", b"").count(b"org/roaringbitmap") == 0
