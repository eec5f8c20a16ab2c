"""A copy of RoaringBitmap under the package name that Pig uses.

Pig's own build moves the library into a package of Pig's, and its published jar omits it: without it no script runs on
MapReduce, and none locally that uses Bloom filters. Class names are texts in the constant pools of class files; moving
a package means rewriting those texts.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.service.installs.additions import Workshop

_FROM: Final = b"org/roaringbitmap"
_TO: Final = b"org/apache/pig/org/roaringbitmap"
_JARS: Final = ("RoaringBitmap-", "shims-")
_UTF8: Final = 1
_HEADER: Final = 10
"""Magic number, two versions and the number of constants, which precede the constants."""
_SIZES: Final = {
    **dict.fromkeys((7, 8, 16, 19, 20), 2),
    15: 3,
    **dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4),
    **dict.fromkeys((5, 6), 8),
}
"""Bytes of a constant by its tag (Java Virtual Machine Specification, 4.4)."""
_WIDE: Final = (5, 6)
"""Long and double take two places of the pool."""


@dataclass(frozen=True)
class RelocatedJar:
    """The jar, made when Pig is installed; see `Addition`."""

    name: str = "roaring-bitmap"
    key: str = "1"

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Write every class of the library under its other name."""
        sources = [jar for jar in workshop.installed.jars if jar.name.startswith(_JARS)]
        with zipfile.ZipFile(folder / "roaring-bitmap-of-pig.jar", "w", zipfile.ZIP_DEFLATED) as target:
            for source in sources:
                with zipfile.ZipFile(source) as jar:
                    for name in jar.namelist():
                        if name.endswith(".class") and name.startswith(_FROM.decode()):
                            target.writestr(moved(name.encode()).decode(), relocated(jar.read(name)))


def moved(text: bytes) -> bytes:
    """Return a name, descriptor or signature with the package replaced."""
    return text.replace(_FROM, _TO).replace(_FROM.replace(b"/", b"."), _TO.replace(b"/", b"."))


def relocated(content: bytes) -> bytes:
    """Return a class file whose constants name the other package. Raises `ValueError` if it is not a class file."""
    if content[:4] != b"\xca\xfe\xba\xbe":
        raise ValueError("not a class file")
    parts = [content[:_HEADER]]
    end = _HEADER
    for start, end, text in _constants(content):
        if text is None:
            parts.append(content[start:end])
        else:
            new = moved(text)
            parts.append(struct.pack(">BH", _UTF8, len(new)) + new)
    return b"".join((*parts, content[end:]))


def _constants(content: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield the start and end of each constant and, for a text, the text."""
    (count,) = struct.unpack_from(">H", content, 8)
    place, at = 1, _HEADER
    while place < count:
        tag = content[at]
        if tag == _UTF8:
            (length,) = struct.unpack_from(">H", content, at + 1)
            yield at, at + 3 + length, content[at + 3 : at + 3 + length]
            at += 3 + length
        elif tag in _SIZES:
            yield at, at + 1 + _SIZES[tag], None
            at += 1 + _SIZES[tag]
        else:
            raise ValueError(f"a constant of an unknown kind ({tag})")
        place += 2 if tag in _WIDE else 1
