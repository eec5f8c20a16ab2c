"""`%svc_tap` on a real service, with our extensions and without."""

import sqlite3
from contextlib import closing

import pytest
from IPython.core.error import StdinNotImplementedError

from svc_jupyter.magics.display.errors import SvcServiceError, SvcUsageError
from svc_jupyter.magics.taps import taps
from svc_jupyter.magics.taps.addresses import TapAddress

PASSWORD = "geheim-42"


@pytest.fixture
def shop(shared_service, tmp_path):
    """A SQLite file in the service's storage; the name that a tap gives."""
    folder = shared_service.data_dir / "storage"
    file = folder / f"{tmp_path.name}.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            "CREATE TABLE orders (id INTEGER, total REAL); INSERT INTO orders VALUES (1, 2.5);CREATE TABLE people (id);"
        )
    yield file.name
    file.unlink()


def test_a_tap_is_added_tested_edited_listed_and_removed(at_work, shop, capsys):
    added = at_work.value(f"%svc_tap add shop sqlite:///{shop}")
    assert repr(added).splitlines()[0] == "tap shop"
    assert "✓ answered in" in repr(added)
    assert "2" in repr(at_work.value("%svc_tap test shop"))
    tables = at_work.value("%svc_tap tables shop -o tables")
    assert tables[["table", "rows", "columns"]].to_numpy().tolist() == [["orders", 1, 2], ["people", 0, 1]]
    assert at_work.value("%svc_tap tables shop --search ORD --refresh")["table"].tolist() == ["orders"]
    assert at_work.value("%svc_tap tables shop orders").to_numpy().tolist() == [["id", "INTEGER"], ["total", "REAL"]]
    assert "there is no table order in this tap" in str(at_work.error("%svc_tap tables shop order"))
    at_work.value("%svc_tap edit shop --name store --active no")
    listed = at_work.value("%svc_tap").set_index("name")
    assert not listed.loc["store", "active"]
    assert "did you mean store" in str(at_work.error("%svc_tap test stor"))
    assert isinstance(at_work.error("%svc_tap edit store"), SvcUsageError)
    capsys.readouterr()
    at_work.value("%svc_tap remove store")
    assert "Nothing was done. Add --yes to do it." in capsys.readouterr().out
    at_work.value("%svc_tap remove store --yes")
    assert isinstance(at_work.error("%svc_tap test store"), SvcServiceError)


def test_a_password_is_asked_for_and_kept_out_of_the_notebook(at_work, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(taps, "getpass", lambda prompt: asked.append(prompt) or PASSWORD)
    added = at_work.value("%svc_tap add away postgresql://ann%40x@127.0.0.1:9/shop")
    assert asked == ["Password of ann@x at 127.0.0.1: "]
    assert repr(added).splitlines()[0] == "tap away is stored, but its database did not answer"
    assert "✗" in repr(added)
    at_work.value("%svc_tap edit away --password")
    assert len(asked) == 2
    at_work.value("%svc_tap edit away --url postgresql+psycopg://ann@127.0.0.1:9/shop?connect_timeout=1")
    assert at_work.value("%svc_tap list").set_index("name").loc["away", "type"] == "url"
    seen = [*map(repr, at_work.shell.user_ns.values()), *capsys.readouterr(), repr(added)]
    seen += [cell for _, _, cell in at_work.shell.history_manager.get_range(output=False)]
    assert not any(PASSWORD in text for text in seen)
    at_work.value("%svc_tap remove away --yes")


def test_a_url_with_a_password_is_refused_without_repeating_it(at_work):
    urls = [
        f"postgresql://ann:{PASSWORD}@h/d",
        f"postgresql://h/d?password={PASSWORD}",
        f"postgresql://ann:{PASSWORD}@[h/d",
        f"ann:{PASSWORD}@h/d",
        f"http://ann:{PASSWORD}@h:x/d",
    ]
    refused = [(type(at_work.error(f"%svc_tap add shop {url}")), PASSWORD in at_work.error_text) for url in urls]
    assert refused == [(SvcUsageError, False)] * 5


def test_without_anybody_to_ask_it_says_what_to_do(at_work, monkeypatch):
    def nobody(_prompt):
        raise StdinNotImplementedError

    monkeypatch.setattr(taps, "getpass", nobody)
    assert "nobody can be asked for the password here" in str(
        at_work.error("%svc_tap add shop postgresql://ann@h/shop")
    )


def test_a_service_without_catalogues_lists_tables(bare_service, notebook_of):
    notebook = notebook_of(bare_service)
    bare_service.add_tap("flights")
    assert notebook.value("%svc_tap tables flights").to_numpy().tolist() == [["main", "flights", "table"]]
    assert isinstance(notebook.error("%svc_tap tables flights flights"), SvcUsageError)


ADDRESSES = {
    "sqlite:///shop.db": {"db_type": "sqlite", "db_name": "shop.db", "url": "", "db_host": ""},
    "sqlite:////data/shop.db": {"db_type": "sqlite", "db_name": "/data/shop.db", "url": "", "db_host": ""},
    "mysql://ann@h/s": {"db_type": "mysql", "db_host": "h", "db_name": "s", "db_user": "ann", "db_passwd": "p@"},
    "duckdb://ann@h/s": {"db_type": "url", "url": "duckdb://ann:p%40@h/s", "db_host": "", "db_name": "", "db_user": ""},
}


def test_the_attributes_of_an_address():
    assert {url: TapAddress(url).fields("p@") for url in ADDRESSES} == ADDRESSES
