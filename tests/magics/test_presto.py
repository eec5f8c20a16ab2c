"""`%%svc_presto` in a notebook."""

import pyarrow as pa


def test_a_presto_query_becomes_a_typed_frame(service, notebook):
    service.behave("select 1 as n", table=pa.table({"n": [1]}))
    frame = notebook.value("%%svc_presto --label fast -o one\nselect 1 as n\n")
    assert frame["n"].sum() == 1
    assert notebook.lines[-1].endswith("1 row × 1 column · one")
    body = service.submissions[0]
    assert (body["command_type"], body["label"], body["query"]) == ("PrestoCommand", "fast", "select 1 as n\n")


def test_the_query_may_lie_in_the_storage(service, notebook):
    notebook.run("%svc_presto --script-location queries/a.sql --no-wait")
    assert service.submissions[0]["script_location"] == "queries/a.sql"
    assert "query" not in service.submissions[0]


def test_a_cell_and_a_location_exclude_each_other(service, notebook):
    assert notebook.run("%%svc_presto --script-location a.sql\nselect 1\n").error_in_exec is not None
    assert notebook.run("%svc_presto").error_in_exec is not None
    assert service.submissions == []
