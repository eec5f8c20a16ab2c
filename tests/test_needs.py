"""The fast loop leaves out what needs an engine, a browser or a running service, however indirectly."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.browser.chromium import find_chromium
from tests.support import engines
from tests.support.engines import ENGINES, engine_at_once
from tests.support.needs import reached
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess

from svc_jupyter.service.installs.engine import Engine

INSTALLS = re.compile(r"\b(engine_at_once|engine_for_tests|java_for_tests|shared_hadoop|HadoopCluster|spark_service)\b")


def directly() -> None:
    engine_at_once(Engine.PIG)


def through_a_module() -> None:
    engines.engine_at_once(Engine.PIG)


def through_the_object() -> bool:
    return bool(ENGINES.installed(Engine.PIG))


@contextmanager
def opened() -> Iterator[None]:
    directly()
    yield


class Cluster:
    @property
    def daemons(self) -> Any:
        with opened():
            return lambda: None


class SmallCluster(Cluster):
    @classmethod
    def of(cls) -> SmallCluster:
        return cls()


def through_a_class() -> None:
    SmallCluster.of()


def through_a_nested_function() -> Callable[[], None]:
    def inner() -> None:
        through_a_class()

    return inner


def with_a_browser() -> str:
    return find_chromium()


def with_a_service() -> str:
    return ServiceProcess(Path()).start().base_url


def with_a_database(server: Any) -> str:
    return PostgresCluster(server).create("test")


def without() -> Engine:
    return Engine.PIG


AT_AN_ENGINE = (directly, through_a_module, through_the_object, opened, through_a_class, through_a_nested_function)
"""Not named in the test itself, which would need one too."""


def test_whatever_comes_to_an_engine_needs_one():
    assert {each: reached(each) for each in AT_AN_ENGINE} == {each: {"engine"} for each in AT_AN_ENGINE}


def test_a_browser_and_a_service_are_no_engine_and_the_name_of_an_engine_is_neither():
    assert reached(with_a_browser) == {"browser"}
    assert reached(with_a_service) == {"service"}
    assert reached(with_a_database) == {"service"}
    assert reached(without) == frozenset()


def test_no_selected_test_without_the_marker_has_a_fixture_that_installs_an_engine(request: pytest.FixtureRequest):
    """Looks at the words of the fixtures of all tests of this run, so it says most in a whole or fast run."""
    fixtures = {
        definition.func: item.nodeid
        for item in request.session.items
        if isinstance(item, pytest.Function) and not item.get_closest_marker("engine")
        for definitions in item._fixtureinfo.name2fixturedefs.values()
        for definition in definitions
    }
    assert [name for function, name in fixtures.items() if INSTALLS.search(inspect.getsource(function))] == []
