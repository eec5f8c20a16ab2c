"""`%%svc_pig` in a notebook."""

import pyarrow as pa
import pytest

from svc_jupyter.magics.commands.pig import outputs_of
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.grid import RESULT, with_readable_cells
from svc_jupyter.magics.display.values import readable

CARRIERS = pa.table({"carrier": ["UA", "AA"], "days": [[{"day": 1}], []]})
MONTHS = pa.table({"month": list(range(1, 13))})
OUTPUTS = {
    "dumps": [
        {"alias": "months", "rows": 12, "size": 100, "columns": [["month", "int64"]]},
        {"alias": "carriers", "rows": 2, "size": 100, "columns": [["carrier", "string"], ["days", "list"]]},
    ],
    "stores": [],
}


@pytest.fixture
def dumping(service, notebook):
    """A notebook whose service dumps two tables for the script `run`."""
    service.behave("run", table=CARRIERS, outputs=OUTPUTS, dumps={1: MONTHS, 2: CARRIERS})
    return notebook


def test_the_last_dump_is_the_value_and_the_others_are_shown(dumping, capsys):
    frame = dumping.value("%%svc_pig -o last -n 5\nrun\n")
    assert list(frame["carrier"]) == ["UA", "AA"]
    assert dumping.shell.user_ns["last"] is frame
    assert any(line.endswith("2 rows × 2 columns · last") for line in dumping.lines)
    assert dumping.lines[-1].split()[1:9] == ["0", "1", "1", "2", "..", "...", "10", "11"]
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["DUMP months · 12 rows × 1 column", "DUMP carriers"]


def test_each_dump_is_a_grid_of_its_stored_rows(dumping):
    last = dumping.displayed("%%svc_pig -o last -n 5\nrun\n")[RESULT]
    first = dumping.shell.display_pub.sent[-1]["data"][RESULT]
    assert (first["command"], first["part"], first["total"]) == (128, {"dump": 1}, 12)
    assert [column["name"] for column in first["columns"]] == ["month"]
    assert (last["command"], last.get("part"), last["total"], last["name"]) == (128, None, 2, "last")
    assert [column["name"] for column in last["columns"]] == ["carrier", "days"]


def test_a_chart_is_of_the_dump_that_a_variable_or_an_option_names(dumping, drawn):
    dumping.value("%%svc_pig -o months=by_month -o last --quiet\nrun\n")
    for result in ("by_month", "last", "", "128 --dump months", "128 --table 2"):
        dumping.value(f"%svc_plot {result} -x n")
    assert drawn == [(128, {"dump": 1}), (128, {}), (128, {}), (128, {"dump": "months"}), (128, {"table": 2})]


def test_a_table_that_is_named_twice_or_of_no_command_is_refused(dumping):
    dumping.value("%%svc_pig -o last\nrun\n")
    assert str(dumping.error("%svc_plot last --dump months -x month")) == (
        "svc_plot: --dump goes with the id of a command, as in %svc_plot 128 --dump months"
    )
    assert str(dumping.error("%svc_plot 128 --dump months --table 1 -x month")) == (
        "svc_plot: --dump is for a Pig command, --table for a note's run; leave one out"
    )


def test_each_dump_can_have_a_name(dumping):
    dumping.value("%%svc_pig -o months=by_month -o last --quiet\nrun\n")
    assert list(dumping.shell.user_ns["by_month"]["month"]) == list(range(1, 13))
    assert len(dumping.shell.user_ns["last"]) == 2


def test_a_name_for_what_is_not_dumped_is_reported_with_what_is(dumping):
    error = dumping.error("%%svc_pig -o nothing=x\nrun\n")
    assert "has no DUMP nothing for -o; there is months, carriers" in str(error)


def test_parameters_and_variables_reach_the_script(service, notebook):
    notebook.shell.user_ns["count"] = 3
    notebook.value("%%svc_pig --param day=2013-01-01 --var count --macro 'm=1' --label etl --pool fast\nx = 1;\n")
    [body] = service.submissions
    assert body["command_type"] == "PigCommand"
    assert body["latin_statements"].strip() == "x = 1;"
    assert body["parameters"] == {"day": "2013-01-01", "count": "3"}
    assert (body["label"], body["pool"], body["macros"]) == ("etl", "fast", [{"m": "1"}])


def test_a_script_that_only_stores_gives_a_table_of_what_it_stored(service, notebook):
    stores = [{"alias": "a", "location": "file:///x/out", "rows": 17, "bytes": None}]
    service.behave("store", outputs={"dumps": [], "stores": stores})
    frame = notebook.value("%%svc_pig\nstore\n")
    assert frame.to_dict("records")[0]["location"] == "file:///x/out"
    assert frame["rows"].sum() == 17


def test_the_output_of_a_script_is_returned_as_lines(service, notebook):
    service.behave("DESCRIBE a;", output="a: {n: int}\n")
    assert list(notebook.value("%%svc_pig\nDESCRIBE a;\n")["line"]) == ["a: {n: int}"]


def test_it_stands_in_a_composite(service, notebook):
    service.behave("DESCRIBE a;", output="a: {n: int}\n")
    notebook.run(
        "%%svc_composite\n%%svc_pig --param n=1\nDESCRIBE a;\n%%svc_hive\nselect 1\n%%svc_hadoop jar x.jar a\n"
    )
    [pig, hive, hadoop] = service.submissions[0]["sub_commands"]
    assert (pig["command_type"], pig["parameters"]) == ("PigCommand", {"n": "1"})
    assert (hive["command_type"], hive["query"].strip()) == ("HiveCommand", "select 1")
    assert (hadoop["sub_command"], hadoop["sub_command_args"]) == ("jar", "x.jar a")


def test_an_error_names_its_place_once(service, notebook):
    message = "Undefined parameter : stamp\n  script, line 1, column 9: STORE $stamp;"
    service.behave("STORE $stamp;", status="error", message=message)
    text = str(notebook.error("%%svc_pig\nSTORE $stamp;\n"))
    assert "Undefined parameter : stamp" in text
    assert text.count("line 1") == 1


def test_names_of_dumps_are_read_from_the_line():
    assert outputs_of(["last", "a=first", "b=second"]) == ("last", {"a": "first", "b": "second"})
    for wrong in (["a", "b"], ["1x"], ["a=not a name"]):
        with pytest.raises(SvcUsageError):
            outputs_of(wrong)


def test_nested_values_are_readable_and_the_frame_keeps_them():
    frame = pa.table(
        {
            "bag": [[{"x": 1, "y": None}], None],
            "map": pa.array([[("k", "v")], []], pa.map_(pa.string(), pa.string())),
            "tuple": [{"a": [1, 2]}, None],
            "n": [1, 2],
        }
    ).to_pandas()
    shown = with_readable_cells(frame)
    assert list(shown["bag"]) == ["[{x: 1, y: null}]", None]
    assert list(shown["map"]) == ["{k: v}", "[]"]
    assert list(shown["tuple"]) == ["{a: [1, 2]}", None]
    assert readable(frame["tuple"][0]) == "{a: [1, 2]}"
    assert frame["bag"][0][0] == {"x": 1, "y": None}
    plain = pa.table({"n": [1], "text": ["a"]}).to_pandas()
    assert with_readable_cells(plain) is plain
