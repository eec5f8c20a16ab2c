"""`--limit` and `--dry-run` in a notebook: first rows, and the plan as text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

PLAN = pa.table({"line": ["Sort  (cost=25.95..25.97 rows=6 width=36)", "  ->  Seq Scan on flights"]})


@pytest.mark.parametrize("magic", ["db", "hive", "presto", "sql"])
def test_a_plan_is_shown_line_by_line(service: Any, notebook: Any, magic: str) -> None:
    service.add_tap("flights")
    service.behave("SELECT 1", table=PLAN, messages=["dry run: this is the plan, nothing was run"])
    data = notebook.displayed(f"%%svc_{magic} --dry-run -o plan\nSELECT 1")
    assert service.submissions[0]["dry_run"] is True
    assert notebook.lines[-1].endswith(" · 2 lines · plan · dry run: this is the plan, nothing was run")
    assert "  -&gt;  Seq Scan on flights" in data["text/html"]
    assert notebook.shell.user_ns["plan"]["line"].tolist() == PLAN["line"].to_pylist()


@pytest.mark.parametrize("magic", ["db", "hive", "presto", "sql"])
def test_some_rows_are_asked_for(service: Any, notebook: Any, magic: str) -> None:
    service.add_tap("flights")
    told = "the first 2 rows: there may be more"
    service.behave("SELECT 1", table=pa.table({"n": [1, 2]}), messages=[told])
    assert len(notebook.value(f"%%svc_{magic} --limit 2\nSELECT 1")) == 2
    assert service.submissions[0]["limit"] == 2
    assert notebook.lines[-1].endswith(f" · 2 rows × 1 column · {told}")


@pytest.mark.parametrize(("option", "field"), [("--dry-run", "dry_run"), ("--limit 5", "limit")])
def test_a_service_that_knows_neither_gets_no_query(
    bare_service: Any, notebook_of: Any, option: str, field: str
) -> None:
    notebook = notebook_of(bare_service)
    bare_service.add_tap("flights")
    error = notebook.error(f"%%svc_db {option}\nDELETE FROM flights")
    assert f"does not know {field}; nothing was sent" in str(error)
    assert bare_service.submissions == []


REFUSED = {
    "%%svc_sql --app-id mine --dry-run": "svc_sql: --dry-run goes with a query of its own, not with --app-id",
    "%%svc_sql --app-id mine --limit 5": "svc_sql: --limit goes with a query of its own, not with --app-id",
    "%%svc_hive --limit 0": "%svc_hive: --limit takes a number of rows, 1 or more, not 0",
    "%%svc_hive --limit 5 --dry-run": "%svc_hive: --limit is for the rows of a run, and --dry-run has none",
}


def test_options_that_exclude_each_other_are_refused(service: Any, notebook: Any) -> None:
    assert {line: str(notebook.error(f"{line}\nSELECT 1")) for line in REFUSED} == REFUSED
    assert service.submissions == []
