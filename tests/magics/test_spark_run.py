"""What `%svc_spark_run` makes of its line and of a run's tables; `notebooks/spark.ipynb` runs it on Spark itself."""

import pytest

from svc_jupyter.client.commands.outputs import table_texts
from svc_jupyter.magics.display.errors import SvcUsageError
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
