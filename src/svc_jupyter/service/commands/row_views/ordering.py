"""The order of the rows of a result by columns of numbers, times and texts.

Texts are compared by eight bytes at a time, as whole numbers, which takes a third of the time of comparing them as
texts. What this does not know is left to Arrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

MOST_ROWS = 4_000_000
"""Above, the numbers made here would take more memory than a process of rows may have."""
_WORD = 8
_MOST_WORDS = 6
"""Texts that are equal for so many words after the start that all have are left to Arrow."""
_SAMPLE = 10_000
_FEW = 10
"""Values count as few when each comes so many times in the sample."""
_SMALL_PART = 10
"""Finding the first rows saves work where they are no more than one in so many."""


@dataclass(frozen=True, slots=True)
class Key:
    """A column to sort by: its plain values in chunks, and whether the largest one comes first."""

    chunks: Sequence[pa.Array[Any]]
    is_descending: bool


def order_of(keys: Sequence[Key], count: int) -> Integers | None:
    """Return the positions of `count` rows in the order of the keys; None when Arrow has to sort them.

    Equal rows stay as they are. Those with NaN come last but for those without a value, in either direction.
    """
    import numpy as np

    if not 0 < count <= MOST_ROWS:
        return None
    bits = count.bit_length()
    whole: Integers | None = None
    for key in keys:
        ranks = _ranks(key, count)
        if ranks is None:
            return None
        whole = ranks if whole is None else _ranked((whole << bits) | ranks)
    if whole is None:
        return None
    numbered = (whole << bits) | np.arange(count)
    numbered.sort()
    return numbered & ((1 << bits) - 1)


def leading(values: pa.ChunkedArray[Any], count: int, *, is_descending: bool) -> Integers | None:
    """Return the ascending positions of the values that are among the first `count` in their order.

    Equal ones all belong to them, so there may be more. None when that would be much of the work of ordering all.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    most = len(values) // _SMALL_PART
    if count > most:
        return None
    try:
        way: Any = [("", "descending" if is_descending else "ascending")]
        last: Any = values[pc.select_k_unstable(values, count, sort_keys=way)[-1].as_py()]
    except pa.ArrowNotImplementedError:
        return None
    compare = pc.greater_equal if is_descending else pc.less_equal
    found = pc.indices_nonzero(compare(values, last)).to_numpy().astype("int64")
    # Fewer where the last one is NaN or has no value, which nothing is equal to.
    return found if count <= len(found) <= most else None


def _ranks(key: Key, count: int) -> Integers | None:
    """Return a number up to `count` for each row, in the order of the key; None when this needs Arrow."""
    import numpy as np
    import pyarrow.types as kinds

    kind = key.chunks[0].type
    if kinds.is_string(kind) or kinds.is_large_string(kind):
        numbers = _of_texts(key.chunks, count)
    elif kinds.is_floating(kind):
        numbers = np.concatenate([chunk.to_numpy(zero_copy_only=False).astype(np.float64) for chunk in key.chunks])
    elif kinds.is_signed_integer(kind) or kinds.is_temporal(kind):
        numbers = np.concatenate([_integers(chunk) for chunk in key.chunks])
    else:
        return None
    if numbers is None:
        return None
    is_nan = numbers != numbers
    if key.is_descending:
        numbers = -numbers if numbers.dtype == np.float64 else ~numbers  # unlike the negative, it cannot overflow
    ranks = _near_zero(numbers)
    if ranks is None:
        ranks = _ranked(numbers)
        ranks[is_nan] = count - 1
    if any(chunk.null_count for chunk in key.chunks):
        ranks[np.concatenate([chunk.is_null().to_numpy(zero_copy_only=False) for chunk in key.chunks])] = count
    return ranks


def _ranked(numbers: Any) -> Integers:
    """Return for each number how many of the numbers are smaller."""
    import numpy as np

    order = np.argsort(numbers)
    in_order = numbers[order]
    is_larger = in_order[1:] != in_order[:-1]
    del in_order  # a million of rows is eight megabytes of each of these
    smaller = np.arange(len(numbers))
    smaller[1:] *= is_larger
    np.maximum.accumulate(smaller, out=smaller)
    ranks = np.empty_like(smaller)
    ranks[order] = smaller
    return ranks


def _near_zero(numbers: Any) -> Integers | None:
    """Return whole numbers of a small range less the least of them, which is quicker than to rank them."""
    import numpy as np

    if numbers.dtype != np.int64:
        return None
    least = int(numbers.min())
    return numbers - least if int(numbers.max()) - least < len(numbers) else None


def _integers(chunk: pa.Array[Any]) -> Integers:
    """Return whole numbers, dates or times as they are stored; anything in place of those that are null."""
    import numpy as np

    stored = chunk.buffers()[1]
    assert stored is not None
    of_width = np.dtype(f"i{chunk.type.bit_width // 8}")
    numbers: Any = np.frombuffer(memoryview(stored), of_width)
    return numbers[chunk.offset : chunk.offset + len(chunk)].astype(np.int64)  # type: ignore[no-any-return]


def _of_texts(chunks: Sequence[pa.Array[Any]], count: int) -> Integers | None:
    """Return a number below `count` for each text, in the order of their bytes; None when this needs Arrow."""
    import numpy as np

    sample = chunks[0].slice(0, _SAMPLE)
    if len(sample.unique()) * _FEW <= len(sample):
        return _of_few_texts(chunks)
    texts = [_Texts.of(chunk) for chunk in chunks]
    if any(text.has_zeros for text in texts):
        return None  # a word would not tell them from the end of the text
    bits = count.bit_length()
    lengths = np.concatenate([text.ends - text.starts for text in texts])
    ranks: Integers | None = None
    tied = np.arange(count)
    start = _common_start(chunks)
    for depth in range(start, start + _WORD * _MOST_WORDS, _WORD):
        words = np.concatenate([text.words(depth) for text in texts])
        if ranks is None:
            ranks = _ranked(words)
        else:
            before = ranks[tied]
            group = _ranked(before)
            ranks[tied] = before + _ranked((group << bits) | _ranked(words[tied])) - group
        tied = tied[np.bincount(ranks[tied], minlength=count)[ranks[tied]] > 1]
        if not (lengths[tied] > depth + _WORD).any():
            return ranks
    return None


def _common_start(chunks: Sequence[pa.Array[Any]]) -> int:
    """Return how many bytes all texts have in common at their start."""
    import pyarrow as pa
    import pyarrow.compute as pc

    extremes: Any = pc.min_max(pa.chunked_array(list(chunks))).values()
    least, most = (bytes(text.as_buffer() or b"") for text in extremes)
    return next((at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), len(least))


def _of_few_texts(chunks: Sequence[pa.Array[Any]]) -> Integers:
    """Return a number for each of texts that have few different values, in the order of their bytes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = [chunk.dictionary_encode() for chunk in chunks]
    texts: Any = pa.chunked_array([part.dictionary for part in encoded]).unique()
    order = pc.sort_indices(texts).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    numbers = []
    for part in encoded:
        of_part = ranks[pc.index_in(part.dictionary, texts).to_numpy()]
        numbers.append(np.append(of_part, 0)[part.indices.fill_null(len(of_part)).to_numpy()])
    return np.concatenate(numbers)


@dataclass(frozen=True, slots=True)
class _Texts:
    """The bytes of texts, and where each of them starts and ends."""

    data: NDArray[np.uint8]
    starts: Integers
    ends: Integers

    @classmethod
    def of(cls, chunk: pa.Array[Any]) -> _Texts:
        """Return the texts of a chunk; nothing is copied."""
        import numpy as np
        import pyarrow.types as kinds

        _, places, data = chunk.buffers()
        width: Any = np.int64 if kinds.is_large_string(chunk.type) else np.int32
        assert places is not None
        offsets: Any = np.frombuffer(memoryview(places), width)
        bounds = offsets[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
        return cls(np.frombuffer(memoryview(data or b""), np.uint8), bounds[:-1], bounds[1:])

    @property
    def has_zeros(self) -> bool:
        """Whether a text has a byte 0."""
        return bool(len(self.starts)) and not self.data[self.starts[0] : self.ends[-1]].all()

    def words(self, depth: int) -> NDArray[np.uint64]:
        """Return eight bytes of each text as a number of their order, with zeros after the text's end."""
        import numpy as np

        if len(self.data) < _WORD:
            padded = np.concatenate([self.data, np.zeros(_WORD, np.uint8)])
            return _Texts(padded, self.starts, self.ends).words(depth)
        at = np.minimum(self.starts + depth, len(self.data) - _WORD)
        every = np.ndarray((len(self.data) - _WORD + 1,), ">u8", self.data, strides=(1,))  # one from each byte on
        before = np.minimum(self.starts + depth - at, _WORD)
        after = np.clip(self.ends - self.starts - depth, 0, _WORD)
        words = every[at].astype(np.uint64)
        words = _shifted(words, before, np.left_shift)
        gone = _WORD - after
        return _shifted(_shifted(words, gone, np.right_shift), gone, np.left_shift)


def _shifted(words: NDArray[np.uint64], count: Integers, shift: np.ufunc) -> NDArray[np.uint64]:
    """Return words shifted by 0 to 8 bytes."""
    import numpy as np

    if not count.any():
        return words
    half = (count * 4).astype(np.uint64)  # a shift by 64 bits at once has no defined outcome
    shifted: NDArray[np.uint64] = shift(shift(words, half), half)
    return shifted
