"""Shell output in columns."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.magics.display.formats import NotInFormat, parsed_frame


def rows(frame):
    return frame.to_dict("split")["data"]


def test_csv_keeps_quoted_commas_and_line_ends():
    frame = parsed_frame('name,note\na,"x, y"\nb,"two\nlines"\n', "csv")
    assert rows(frame) == [["a", "x, y"], ["b", "two\nlines"]]


def test_tsv_takes_quotes_as_they_are():
    assert rows(parsed_frame('a\tb\n"x\ty"\n', "tsv")) == [['"x', 'y"']]


def test_no_output_is_an_empty_frame():
    formats = ["csv", "tsv", "json", "table"]
    assert [name for name in formats if parsed_frame("", name).empty] == formats


@pytest.mark.parametrize("text", ["a,b\n1,2,3\n", "a,b\n1,2\n1,2,3\n"])
def test_csv_with_surplus_fields_is_refused_and_never_shifted(text):
    with pytest.raises(NotInFormat, match="not CSV"):
        parsed_frame(text, "csv")


def test_json_objects_arrays_and_scalars():
    assert rows(parsed_frame('{"a": 1}', "json")) == [[1]]
    assert rows(parsed_frame("[[1, 2], [3, 4]]", "json")) == [[1, 2], [3, 4]]
    assert list(parsed_frame("[1, 2]", "json")["value"]) == [1, 2]
    assert list(parsed_frame('{"a": 1}\n\n{"a": null}\n', "json")["a"].isna()) == [False, True]


def test_mixed_json_rows_stay_values():
    assert list(parsed_frame('[1, {"a": 2}]', "json")["value"]) == [1, {"a": 2}]


@pytest.mark.parametrize(("text", "place"), [("{'a': 1}", "line 1"), ('{"a": 1}\n{"a": \n', "line 2")])
def test_broken_json_names_the_line(text, place):
    with pytest.raises(NotInFormat, match=place):
        parsed_frame(text, "json")


def test_a_printed_table_has_numbers_where_all_cells_are_numbers():
    frame = parsed_frame("name   size\na        10\nb       2.5\n", "table")
    assert list(frame["size"]) == [10.0, 2.5]
    assert pd.api.types.is_string_dtype(frame["name"])


def typed(text, output_format="csv", types=None):
    """The columns of an output, each with pandas' type and its values; None is a missing one."""
    frame = parsed_frame(text, output_format, types)
    columns = {name: frame.iloc[:, place] for place, name in enumerate(frame.columns)}
    return {
        name: (
            str(column.dtype),
            [None if missing else value for value, missing in zip(column.tolist(), column.isna(), strict=True)],
        )
        for name, column in columns.items()
    }


def test_a_column_with_a_value_that_is_no_plain_number_stays_text():
    texts = ["NA", "nan", "01234", "+1", "-0", "1e5", "1 ", "0x1F", "1_000", "True", "٣"]
    found = {text: typed(f"k,n\nx,{text}\ny,2\n")["n"] for text in texts}
    assert found == {text: ("str", [text, "2"]) for text in texts}


TYPED = {
    ("1", "-2"): ("int64", [1, -2]),
    ("1239162456494753671", ""): ("Int64", [1239162456494753671, None]),
    ("9223372036854775807", "1"): ("int64", [9223372036854775807, 1]),
    ("9223372036854775808", "1"): ("str", ["9223372036854775808", "1"]),
    ("1.50", "-.5", "2"): ("float64", [1.5, -0.5, 2.0]),
    ("0.5", ""): ("float64", [0.5, None]),
    ("0.5", "9007199254740993"): ("str", ["0.5", "9007199254740993"]),
    ("NULL", ""): ("str", ["NULL", None]),
    ("", ""): ("str", [None, None]),
}


def test_fields_get_the_type_that_holds_them_all():
    found = {fields: typed("k,n\n" + "".join(f"x,{field}\n" for field in fields))["n"] for fields in TYPED}
    assert found == TYPED


@pytest.mark.parametrize(
    ("output_format", "text"), [("tsv", "k\tn\nx\t1\ny\t\n"), ("table", "| k | n |\n| x | 1 |\n| y |   |\n")]
)
def test_fields_of_other_formats_get_their_types_in_the_same_way(output_format, text):
    assert typed(text, output_format)["n"] == ("Int64", [1, None])


def test_values_of_json_keep_their_types_beside_a_null():
    text = """[
        {"id": 1239162456494753671, "flag": true, "zip": "01234", "x": 0.5, "large": 18446744073709551616},
        {"id": null, "flag": null, "zip": "7", "x": 9007199254740993, "large": 1},
        {"zip": null}
    ]"""
    assert typed(text, "json") == {
        "id": ("Int64", [1239162456494753671, None, None]),
        "flag": ("boolean", [True, None, None]),
        "zip": ("str", ["01234", "7", None]),
        "x": ("object", [0.5, 9007199254740993, None]),
        "large": ("object", [18446744073709551616, 1, None]),
    }


def test_types_that_are_named_hold_for_their_columns():
    types = {"zip": "str", "n": "int", "ok": "bool", "at": "datetime", "x": "float"}
    found = typed("zip,n,ok,at,x\n12345,+7,t,2026-03-01T12:00:00+02:00,1e5\n,,,,\n", "csv", types)
    assert found["at"][0] == "datetime64[us]"
    assert [str(moment) for moment in found.pop("at")[1]] == ["2026-03-01 10:00:00", "None"]
    assert found == {
        "zip": ("str", ["12345", None]),
        "n": ("Int64", [7, None]),
        "ok": ("boolean", [True, None]),
        "x": ("float64", [100000.0, None]),
    }


def refusal(types):
    with pytest.raises(NotInFormat) as refused:
        parsed_frame("n,name\n1,maybe\n1.5,yes\n", "csv", types)
    return str(refused.value)


def test_types_that_do_not_fit_name_the_column_and_its_first_value():
    assert refusal({"m": "int"}).endswith("no column 'm' (--types) but n, name")
    assert "'1.5' in its column 'n' is no int" in refusal({"n": "int"})
    assert "'maybe' in its column 'name' is no bool" in refusal({"name": "bool"})
    assert "'maybe' in its column 'name' is no datetime" in refusal({"name": "datetime"})


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_come_back_as_they_were(numbers):
    lines = "".join(f"x,{'' if number is None else number}\n" for number in numbers)
    assert typed(f"k,n\n{lines}")["n"][1] == numbers


def test_with_numpy_s_types_a_missing_value_makes_floats_and_objects():
    frame = parsed_frame('[{"n": 1, "b": true, "k": 1}, {"k": null}]', "json", {"k": "int"}, "numpy")
    assert frame.dtypes.map(str).to_dict() == {"n": "float64", "b": "object", "k": "Int64"}
