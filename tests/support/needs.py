"""Marks each test with what it needs beyond Python, read from what its code can reach: `engine`, `browser`, `service`.

A test needs an engine when its function, one of its fixtures, or a function or class of these tests that they name,
directly or through others, comes to `tests/support/engines.py`. So nobody keeps a list of them. What a subprocess or a
service does on its own is not seen: such a test carries its marker. A service is one of ours, or PostgreSQL.

What needs one of them, and whole paths, which their folders name, are only in `bash test.sh --all`: they get the marker
`all`, unless they have the marker `gate`. A test without either is in every set.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from tests.support.engines import ENGINES
from tests.support.service_process import ServiceProcess

_TESTS = str(Path(__file__).parents[1])
_SOURCES = {
    f"{_TESTS}/support/engines.py": "engine",
    f"{_TESTS}/service/packages/r_repository.py": "engine",
    f"{_TESTS}/browser/chromium.py": "browser",
    f"{_TESTS}/support/postgres.py": "service",
}
"""Where engines, R, the browser and PostgreSQL come from."""
_WHOLE_PATHS = tuple(f"{_TESTS}/{folder}/" for folder in ("browser", "integration", "notebooks"))


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with what it needs, and with the set it is in."""
    for item in items:
        for marker in sorted(needs(item)):
            item.add_marker(marker)
        is_whole_path = str(item.path).startswith(_WHOLE_PATHS)
        needs_more = item.get_closest_marker("engine") or item.get_closest_marker("browser")
        if (needs_more or is_whole_path) and not item.get_closest_marker("gate"):
            item.add_marker("all")


def needs(item: pytest.Item) -> frozenset[str]:
    """Return what a test needs: names of markers."""
    if not isinstance(item, pytest.Function):
        return frozenset()
    fixtures = [each for found in item._fixtureinfo.name2fixturedefs.values() for each in found]
    return reached(item.function).union(*(reached(fixture.func) for fixture in fixtures))


@cache
def reached(start: Any) -> frozenset[str]:
    """Return the markers of the sources that a function comes to."""
    found: set[str] = set()
    seen: set[int] = set()
    ahead = [start]
    while ahead:
        thing = ahead.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if thing is ENGINES:
            found.add("engine")
        elif isinstance(thing, FunctionType):
            function = inspect.unwrap(thing)
            file = function.__code__.co_filename
            if file in _SOURCES:
                found.add(_SOURCES[file])
            elif file.startswith(_TESTS):
                ahead += _named_by(function)
        elif isinstance(thing, type) and issubclass(thing, ServiceProcess):
            found.add("service")
            ahead += _members_of(thing)
        elif isinstance(thing, type) and not thing.__module__.startswith("svc_jupyter."):
            ahead += _members_of(thing)
    return frozenset(found)


def _named_by(function: FunctionType) -> Iterator[Any]:
    names = set(_names(function.__code__))
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        yield value
        if isinstance(value, ModuleType) and (getattr(value, "__file__", None) or "").startswith(_TESTS):
            yield from (vars(value)[inner] for inner in names & vars(value).keys())


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _members_of(kind: type) -> Iterator[Any]:
    """Yield the functions of a class: methods, also those of its class and of properties."""
    for member in [each for one in kind.__mro__ for each in vars(one).values()]:
        yield from (getattr(member, name) for name in ("__func__", "fget", "func") if hasattr(member, name))
        yield member
