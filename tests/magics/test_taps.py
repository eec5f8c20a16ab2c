"""`%svc_tap` on a real service, with our extensions and without."""

import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from IPython.core.error import StdinNotImplementedError
from tests.magics.conftest import interrupt_when
from tests.support.service_process import wait_until

from svc_jupyter.magics.cells import waits as cells_waits
from svc_jupyter.magics.display.errors import SvcInterrupted, SvcServiceError, SvcUsageError
from svc_jupyter.magics.taps import taps, waits
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


@contextmanager
def locked(file: Path, until: Callable[[], object]) -> Iterator[None]:
    """Let no other connection read a SQLite file before it is so."""
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(wait_until, until)
            waiting.add_done_callback(lambda _done: connection.rollback())
            yield
        waiting.result()


@pytest.fixture
def locked_shop(at_work, shop, shared_service, monkeypatch):
    """A tap whose tables nobody has read, and a function that locks its database; each call waits for 0.1 s only."""
    monkeypatch.setattr(waits, "_LOOK_SECONDS", 0.1)
    with monkeypatch.context() as silent:  # on a busy machine this takes longer than a cell is silent
        silent.setattr(cells_waits, "SILENT_SECONDS", 60)
        at_work.value(f"%svc_tap add shop sqlite:///{shop}")
    file = shared_service.data_dir / "storage" / shop
    yield lambda until: locked(file, until)
    at_work.value("%svc_tap remove shop --yes")


def test_a_database_that_takes_long_is_waited_for_and_the_cell_says_so(at_work, locked_shop):
    with locked_shop(lambda: at_work.lines):
        assert "✓ answered in" in repr(at_work.value("%svc_tap test shop"))
    assert at_work.lines[0].startswith("◐ connecting to tap shop · ")
    assert at_work.lines[0].endswith(" · interrupt to stop waiting")
    assert at_work.lines[-1] == ""


def test_a_database_that_answers_at_once_is_shown_without_a_line(at_work, locked_shop, monkeypatch):
    monkeypatch.setattr(cells_waits, "SILENT_SECONDS", 60)
    at_work.value("%svc_tap test shop")
    at_work.value("%svc_tap edit shop --active yes")
    assert at_work.lines == []


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_wait_for_a_database_and_keeps_the_new_tap(at_work, shop, shared_service):
    is_over = threading.Event()
    with locked(shared_service.data_dir / "storage" / shop, is_over.is_set):
        sender = interrupt_when(lambda: wait_until(lambda: at_work.lines))
        error = at_work.error(f"%svc_tap add later sqlite:///{shop}")
        is_over.set()
    sender.join()
    assert isinstance(error, SvcInterrupted)
    assert at_work.lines[-1] == "■ connecting to tap later is no longer waited for; it goes on · %svc_tap test later"
    assert "✓ answered in" in repr(at_work.value("%svc_tap test later"))
    at_work.value("%svc_tap remove later --yes")


def test_tables_that_are_known_are_there_without_a_line(at_work, locked_shop, monkeypatch):
    monkeypatch.setattr(cells_waits, "SILENT_SECONDS", 60)
    assert at_work.value("%svc_tap tables shop")["table"].tolist() == ["orders", "people"]
    assert at_work.lines == []


def test_tables_that_are_still_read_are_waited_for_and_the_cell_says_so(at_work, locked_shop):
    with locked_shop(lambda: at_work.lines):
        assert at_work.value("%svc_tap tables shop")["table"].tolist() == ["orders", "people"]
    assert at_work.lines[0].startswith("◐ reading the tables of tap shop · ")
    assert re.fullmatch(r"✓ tables of tap shop · read in .* m?s", at_work.lines[-1])


def test_tables_that_are_asked_for_anew_are_never_the_old_ones(at_work, locked_shop, shop, shared_service):
    at_work.value("%svc_tap tables shop")
    count = len(at_work.lines)
    file = shared_service.data_dir / "storage" / shop
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE people")
    with locked_shop(lambda: at_work.lines[count:]):
        assert at_work.value("%svc_tap tables shop --refresh")["table"].tolist() == ["orders"]
    file.rename(file.with_suffix(".away"))
    assert "does not exist" in str(at_work.error("%svc_tap tables shop --refresh"))
    assert at_work.value("%svc_tap tables shop")["table"].tolist() == ["orders"]
    file.with_suffix(".away").rename(file)


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
