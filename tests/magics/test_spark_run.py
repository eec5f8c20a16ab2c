"""What `%svc_spark_run` makes of its line and of a run's tables; `notebooks/spark.ipynb` runs it on Spark itself."""

import pyarrow as pa
import pytest

from svc_jupyter.client.commands.outputs import table_texts
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.grid import RESULT
from svc_jupyter.magics.spark_notes import frame_of_table, outputs_of


def test_the_last_table_and_others_get_their_names():
    assert outputs_of(["late", "1=first", "2=second"]) == ("late", {1: "first", 2: "second"})
    assert outputs_of([]) == (None, {})


def test_names_that_cannot_be_are_refused():
    def refusal(*texts):
        with pytest.raises(SvcUsageError) as refused:
            outputs_of(texts)
        return str(refused.value)

    assert refusal("a", "b") == "svc_spark_run: -o a and -o b: there is one last table"
    numbers = "svc_spark_run: -o NUMBER=NAME takes the number of a table, from 1, not"
    assert [refusal("0=a"), refusal("x=a"), refusal("-1=a")] == [f"{numbers} '0'", f"{numbers} 'x'", f"{numbers} '-1'"]
    assert refusal("1=not a name") == "svc_spark_run: -o takes the name of a variable, not 'not a name'"


def test_tables_that_come_as_text_become_frames():
    texts = table_texts('a\tb\r\n1\tx "y"\r\n2\tz\r\n\r\nc\r\n1.5\r\n')
    first, second = map(frame_of_table, texts)
    assert first.to_dict("list") == {"a": [1, 2], "b": ['x "y"', "z"]}
    assert second.to_dict("list") == {"c": [1.5]}
    assert table_texts("") == []


def test_each_table_of_a_run_is_a_grid_of_its_stored_rows(service, notebook, drawn, capsys):
    columns = [["n", "int64"]]
    tables = [{"paragraph": "p1", "title": "All", "rows": 3, "size": 9, "columns": [["n", "double"]]}]
    tables.append({"paragraph": "p2", "title": None, "rows": 2, "size": 9, "columns": columns})
    stored = {1: pa.table({"n": [1.5, 2.5, 3.5]}), 2: pa.table({"n": [4, 5]})}
    service.behave("None", table=stored[2], outputs={"tables": tables}, dumps=stored)
    last = notebook.displayed("%svc_spark_run 7 -o last -o 1=first")
    first = notebook.shell.display_pub.sent[-1]["data"]
    shown = [[data[RESULT][name] for name in ("command", "part", "columns", "rows")] for data in (first, last)]
    assert shown == [
        [128, {"table": 1}, [{"name": "n", "type": "number"}], [[1.5], [2.5], [3.5]]],
        [128, {"table": 2}, [{"name": "n", "type": "integer"}], [[4], [5]]],
    ]
    assert capsys.readouterr().out.splitlines()[:2] == ["table 1 · All · 3 rows", "table 2 · p2"]
    assert notebook.shell.user_ns["first"]["n"].tolist() == [1.5, 2.5, 3.5]
    for result in ("first", "last", ""):
        notebook.value(f"%svc_plot {result} -x n")
    assert drawn == [(128, {"table": 1}), (128, {"table": 2}), (128, {"table": 2})]
