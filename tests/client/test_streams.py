import io
from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.client.commands.streams import Body, emptied


@given(st.lists(st.binary(min_size=1)), st.lists(st.integers(0, 50)))
def test_a_body_reads_like_a_file(pieces: list[bytes], sizes: list[int]) -> None:
    body, file = Body(iter(pieces)), io.BytesIO(b"".join(pieces))
    assert [bytes(body.read(size)) for size in sizes] == [file.read(size) for size in sizes]
    assert body.read() == file.read()
    assert body.read(1) == b""


def test_a_size_that_is_garbage_takes_no_memory() -> None:
    assert bytes(Body(iter([b"no arrow"])).read(1 << 40)) == b"no arrow"


def test_pieces_are_let_go_as_they_are_read() -> None:
    pieces = deque([b"a", b"b"])
    reader = emptied(pieces)
    assert next(reader) == b"a"
    assert list(pieces) == [b"b"]
