"""The session of a script, and failures in Presto's words."""

from __future__ import annotations

from email.message import Message

from svc_jupyter.service.kinds.presto.client import SessionState
from svc_jupyter.service.kinds.presto.engine import failure_of, is_lost_worker, share


def headers(*items: tuple[str, str]) -> Message:
    made = Message()
    for name, value in items:
        made[name] = value
    return made


def test_session_changes_of_a_statement_are_sent_with_the_next_statements():
    session = SessionState("ann", "svc-command-1-1", catalog="hive", schema="default")
    session.learn(
        headers(
            ("X-Presto-Set-Catalog", "tpch"),
            ("X-Presto-Set-Schema", "tiny"),
            ("X-Presto-Set-Session", "query_max_run_time=1m"),
            ("X-Presto-Set-Session", "hive.x=a%3Db"),
            ("X-Presto-Added-Prepare", "p=select+1"),
            ("X-Presto-Started-Transaction-Id", "t-1"),
        )
    )
    told = session.headers()
    assert (told["X-Presto-Catalog"], told["X-Presto-Schema"]) == ("tpch", "tiny")
    assert told["X-Presto-Session"] == "query_max_run_time=1m,hive.x=a%3Db"
    assert (told["X-Presto-Prepared-Statement"], told["X-Presto-Transaction-Id"]) == ("p=select+1", "t-1")


def test_session_values_cleared_by_a_statement_are_no_longer_sent():
    session = SessionState("ann", "s", properties={"a": "1"}, prepared={"p": "q"}, transaction="t-1")
    session.learn(
        headers(
            ("X-Presto-Clear-Session", "a"),
            ("X-Presto-Deallocated-Prepare", "p"),
            ("X-Presto-Clear-Transaction-Id", "true"),
        )
    )
    told = session.headers()
    assert not {"X-Presto-Session", "X-Presto-Prepared-Statement"} & set(told)
    assert told["X-Presto-Transaction-Id"] == "NONE"


def test_a_failure_has_its_place_in_the_statement():
    error = {
        "message": "line 2:8: Column 'nope' cannot be resolved",
        "errorName": "COLUMN_NOT_FOUND",
        "errorLocation": {"lineNumber": 2, "columnNumber": 8},
    }
    failure = failure_of(error, "select 1,\n       nope")
    assert (failure.message, failure.position, failure.hint) == ("Column 'nope' cannot be resolved", 17, None)


def test_the_java_stack_trace_is_left_out_of_a_failure():
    message = (
        "it answered 500\njava.lang.IllegalArgumentException: Invalid\n\tat com.facebook.X.y(X.java:1)\nCaused by: z"
    )
    assert failure_of({"message": message}, "").message == "it answered 500"


def test_a_failure_without_workers_has_a_hint_and_a_lost_worker_is_recognized():
    assert "no worker" in str(failure_of({"message": "x", "errorName": "GENERIC_INSUFFICIENT_RESOURCES"}, "").hint)
    assert is_lost_worker({"errorName": "REMOTE_TASK_MISMATCH"})
    assert not is_lost_worker({"errorName": "SYNTAX_ERROR"})


def test_progress_is_the_share_of_splits_that_are_done():
    assert share({"state": "QUEUED", "scheduled": False, "totalSplits": 0}) == 0
    assert share({"state": "RUNNING", "scheduled": True, "totalSplits": 4, "completedSplits": 1}) == 0.25
    assert share({"state": "FINISHED"}) == 1
