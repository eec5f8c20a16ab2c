"""`--dry-run` in a notebook: the plan is shown as text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

PLAN = pa.table({"line": ["Sort  (cost=25.95..25.97 rows=6 width=36)", "  ->  Seq Scan on flights"]})


@pytest.mark.parametrize("magic", ["db", "hive", "presto", "sql"])
def test_a_plan_is_shown_line_by_line(extended_service: Any, notebook_of: Any, magic: str) -> None:
    notebook = notebook_of(extended_service)
    extended_service.add_tap("flights")
    extended_service.behave("SELECT 1", table=PLAN, messages=["dry run: this is the plan, nothing was run"])
    data = notebook.displayed(f"%%svc_{magic} --dry-run -o plan\nSELECT 1")
    assert extended_service.submissions[0]["dry_run"] is True
    assert notebook.lines[-1].endswith(" · 2 lines · plan · dry run: this is the plan, nothing was run")
    assert "  -&gt;  Seq Scan on flights" in data["text/html"]
    assert notebook.shell.user_ns["plan"]["line"].tolist() == PLAN["line"].to_pylist()


def test_a_service_without_dry_runs_gets_no_query(bare_service: Any, notebook_of: Any) -> None:
    notebook = notebook_of(bare_service)
    bare_service.add_tap("flights")
    error = notebook.error("%%svc_db --dry-run\nDELETE FROM flights")
    assert "has no dry runs; nothing was sent" in str(error)
    assert bare_service.submissions == []


def test_code_of_a_session_has_no_plan(extended_service: Any, notebook_of: Any) -> None:
    error = notebook_of(extended_service).error("%%svc_sql --app-id mine --dry-run\nSELECT 1")
    assert str(error).startswith("svc_sql: --dry-run goes with a query of its own, not with --app-id")
    assert extended_service.submissions == []
