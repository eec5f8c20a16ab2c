from __future__ import annotations

import random
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.clusters.providers import local
from svc_jupyter.service.clusters.providers.local import NoBlock, choose_block, worker_addresses


def test_a_block_that_is_in_use_is_passed_over():
    asked: list[str] = []

    def is_free(address: str) -> bool:
        asked.append(address)
        return len(asked) == 3

    block = choose_block(is_free, random.Random(1))
    assert asked[2] == f"{block}.1"
    assert len(set(asked)) == 3


def test_no_free_block_is_reported():
    with pytest.raises(NoBlock):
        choose_block(lambda _address: False, random.Random(1))


@given(st.integers())
def test_blocks_leave_the_addresses_that_systems_use_alone(seed: int):
    first, second, _third = choose_block(lambda _address: True, random.Random(seed)).split(".")
    assert first == "127"
    assert 1 <= int(second) <= 254


def test_workers_are_numbered_from_eleven():
    assert worker_addresses("127.3.4", ["127.3.4.1"], 2) == ["127.3.4.11", "127.3.4.12"]


def test_a_new_worker_does_not_take_the_address_of_one_that_left():
    assert worker_addresses("127.3.4", ["127.3.4.1", "127.3.4.11", "127.3.4.13"], 1) == ["127.3.4.14"]


@given(st.sets(st.integers(11, 254)), st.integers(0, 244))
def test_workers_get_addresses_of_their_own_or_none_at_all(used: set[int], count: int):
    taken = {f"127.3.4.{number}" for number in used}
    if count > local.MOST_WORKERS - len(taken):
        with pytest.raises(NoBlock):
            worker_addresses("127.3.4", taken, count)
        return
    given_out = worker_addresses("127.3.4", taken, count)
    assert len(set(given_out)) == count
    assert not taken & set(given_out)


@given(st.integers(0, 255), st.integers(0, 255), st.integers(1, 254))
def test_a_name_contains_its_address(second: int, third: int, last: int):
    address = f"127.{second}.{third}.{last}"
    assert local.address_of(local.host_name(address)) == address


def test_a_block_in_which_something_listens_is_used():
    with socket.create_server(("127.77.78.200", 0)):
        assert not local.is_unused("127.77.78.1")
    assert local.is_unused("127.77.78.1")
