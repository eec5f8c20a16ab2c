"""`%%svc_db` in a notebook."""

import pandas as pd
import pyarrow as pa
import pytest

FLIGHTS = pa.table({"carrier": ["AA", "UA", "DL"], "flights": [1, 2, 3]})


@pytest.mark.both_services
def test_a_query_becomes_a_typed_frame(service, notebook):
    service.add_tap("flights")
    service.behave("select carrier, count(*)", table=FLIGHTS)
    frame = notebook.value("%%svc_db --tap flights -o delays\nselect carrier, count(*)\n")
    assert list(frame["carrier"]) == ["AA", "UA", "DL"]
    assert frame["flights"].sum() == 6
    assert notebook.shell.user_ns["delays"] is frame
    assert type(frame) is pd.DataFrame
    assert notebook.lines[-1].endswith("3 rows × 2 columns · delays")
    assert service.submissions[0]["db_tap_id"] == 1


def test_notes_on_a_result_are_in_its_header_once(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=FLIGHTS, messages=["column carrier is text: 'x' cannot be read as date"])
    notebook.value("%%svc_db --tap flights -o delays\nq\n")
    [header] = [line for line in notebook.lines if "cannot be read" in line]
    assert header.endswith(" · 3 rows × 2 columns · delays · column carrier is text: 'x' cannot be read as date")


def test_a_tap_is_looked_up_once(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=FLIGHTS)
    notebook.value("%%svc_db --tap flights\nq\n")
    notebook.value("%%svc_db --tap flights\nq\n")
    assert sum("db_taps" in call for call in service.calls) == 1


def test_a_tap_may_be_named_by_its_id(service, notebook):
    service.add_tap("flights")
    service.add_tap("other")
    service.behave("q", table=FLIGHTS)
    notebook.value("%%svc_db --tap 2\nq\n")
    assert service.submissions[0]["db_tap_id"] == 2


def test_without_a_tap_the_default_or_the_only_one_is_used(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=FLIGHTS)
    notebook.value("%%svc_db\nq\n")
    service.add_tap("other")
    notebook.run("%svc_config default_tap other")
    notebook.value("%%svc_db\nq\n")
    assert [body["db_tap_id"] for body in service.submissions] == [1, 2]


def test_without_a_tap_among_several_the_error_names_them(service, notebook):
    service.add_tap("flights")
    service.add_tap("other")
    error = notebook.error("%%svc_db\nq\n")
    assert "%%svc_db needs --tap NAME" in str(error)
    assert "There are: other, flights" in str(error)
    assert service.submissions == []


def test_an_unknown_tap_is_reported_with_the_nearest_name(service, notebook):
    service.add_tap("flights")
    error = notebook.error("%%svc_db --tap flight\nq\n")
    assert "there is no DB tap 'flight'" in str(error)
    assert "flights" in str(error)


def test_a_tap_that_was_replaced_is_found_again_after_the_refusal(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=FLIGHTS)
    notebook.value("%%svc_db --tap flights\nq\n")
    service.taps[1]["id"] = 9
    service.refusal = (422, "DbTapQueryCommand could not be created: there is no DB tap 1")
    assert "no DB tap 1" in str(notebook.error("%%svc_db --tap flights\nq\n"))
    service.refusal = None
    notebook.value("%%svc_db --tap flights\nq\n")
    assert service.submissions[-1]["db_tap_id"] == 9


def test_the_query_of_a_storage_location(service, notebook):
    service.add_tap("flights")
    service.behave("s3://b/q.sql", table=FLIGHTS)
    assert len(notebook.value("%svc_db --tap flights --script-location s3://b/q.sql")) == 3
    assert service.submissions[0]["script_location"] == "s3://b/q.sql"
    assert "query" not in service.submissions[0]


def test_a_percent_and_a_semicolon_in_a_query_are_the_engines(service, notebook):
    service.add_tap("flights")
    query = "select * from t where name like '%x%' and {a} = $b$;"
    service.behave(query, table=FLIGHTS)
    frame = notebook.value(f"%%svc_db --tap flights\n{query}\n")
    assert notebook.shell.user_ns["_"] is frame
    assert service.submissions[0]["query"] == f"{query}\n"


def test_no_more_rows_are_shown_than_asked_for_and_the_value_has_all(service, notebook):
    service.add_tap("flights")
    service.behave("q", table=pa.table({"n": list(range(5000)), "text": ["<b>"] * 5000}))
    data = notebook.displayed("%%svc_db --tap flights -o frame\nq\n")
    assert len(notebook.shell.user_ns["frame"]) == 5000
    assert notebook.lines[-1].endswith(" · 5,000 rows × 2 columns · frame")
    assert "rows 1 to 10 and 4,991 to 5,000 of 5,000" in data["text/html"]
