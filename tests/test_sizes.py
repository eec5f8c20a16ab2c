"""Numbers of bytes as text."""

from __future__ import annotations

from svc_jupyter.sizes import readable_size

SIZES = {
    0: "0 bytes",
    999: "999 bytes",
    1000: "1.0 kB",
    999_960: "1.0 MB",
    4_500_000: "4.5 MB",
    3 * 10**9: "3.0 GB",
    12 * 10**12: "12.0 TB",
    5 * 10**15: "5000.0 TB",
}


def test_a_size_has_one_decimal_and_a_unit() -> None:
    assert {size: readable_size(size) for size in SIZES} == SIZES
