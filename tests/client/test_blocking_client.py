"""The client that blocks is made from the one for asyncio."""

from pathlib import Path

from scripts import make_blocking_client

from svc_jupyter.client import asynchronous, blocking


def test_it_is_what_its_maker_makes_of_the_sources():
    assert list(make_blocking_client.outdated()) == [], "run: python -m scripts.make_blocking_client"


def test_every_module_has_its_counterpart():
    (source,), (made,) = asynchronous.__path__, blocking.__path__
    assert {file.name for file in Path(source).glob("*.py")} == {file.name for file in Path(made).glob("*.py")}
