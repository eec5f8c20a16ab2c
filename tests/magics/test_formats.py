"""Shell output in columns."""

import pandas as pd
import pytest

from svc_jupyter.magics.display.formats import NotInFormat, frame_of


def rows(frame):
    return frame.to_dict("split")["data"]


def test_csv_keeps_quoted_commas_and_line_ends():
    frame = frame_of('name,note\na,"x, y"\nb,"two\nlines"\n', "csv")
    assert rows(frame) == [["a", "x, y"], ["b", "two\nlines"]]


def test_tsv_takes_quotes_as_they_are():
    assert rows(frame_of('a\tb\n"x\ty"\n', "tsv")) == [['"x', 'y"']]


@pytest.mark.parametrize("output_format", ["csv", "tsv", "json", "table"])
def test_no_output_is_an_empty_frame(output_format):
    assert frame_of("", output_format).empty


@pytest.mark.parametrize("text", ["a,b\n1,2,3\n", "a,b\n1,2\n1,2,3\n"])
def test_csv_with_surplus_fields_is_refused_and_never_shifted(text):
    with pytest.raises(NotInFormat, match="not CSV"):
        frame_of(text, "csv")


def test_json_objects_arrays_and_scalars():
    assert rows(frame_of('{"a": 1}', "json")) == [[1]]
    assert rows(frame_of("[[1, 2], [3, 4]]", "json")) == [[1, 2], [3, 4]]
    assert list(frame_of("[1, 2]", "json")["value"]) == [1, 2]
    assert list(frame_of('{"a": 1}\n\n{"a": null}\n', "json")["a"].isna()) == [False, True]


def test_mixed_json_rows_stay_values():
    assert list(frame_of('[1, {"a": 2}]', "json")["value"]) == [1, {"a": 2}]


@pytest.mark.parametrize(("text", "place"), [("{'a': 1}", "line 1"), ('{"a": 1}\n{"a": \n', "line 2")])
def test_broken_json_names_the_line(text, place):
    with pytest.raises(NotInFormat, match=place):
        frame_of(text, "json")


def test_a_printed_table_has_numbers_where_all_cells_are_numbers():
    frame = frame_of("name   size\na        10\nb       2.5\n", "table")
    assert list(frame["size"]) == [10.0, 2.5]
    assert pd.api.types.is_string_dtype(frame["name"])
