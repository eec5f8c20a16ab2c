"""Shell output in columns."""

import pandas as pd
import pytest

from svc_jupyter.magics.display.formats import NotInFormat, parsed_frame


def rows(frame):
    return frame.to_dict("split")["data"]


def test_csv_keeps_quoted_commas_and_line_ends():
    frame = parsed_frame('name,note\na,"x, y"\nb,"two\nlines"\n', "csv")
    assert rows(frame) == [["a", "x, y"], ["b", "two\nlines"]]


def test_tsv_takes_quotes_as_they_are():
    assert rows(parsed_frame('a\tb\n"x\ty"\n', "tsv")) == [['"x', 'y"']]


@pytest.mark.parametrize("output_format", ["csv", "tsv", "json", "table"])
def test_no_output_is_an_empty_frame(output_format):
    assert parsed_frame("", output_format).empty


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
