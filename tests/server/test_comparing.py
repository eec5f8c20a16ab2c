"""Two notebooks side by side."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from svc_jupyter.server.comparing import compared


def cells_of(left: list[Any], right: list[Any]) -> list[dict[str, Any]]:
    return list(compared(new_notebook(cells=left), new_notebook(cells=right))["cells"])


def test_changed_lines_stand_beside_each_other_and_added_ones_alone() -> None:
    before = new_code_cell("region = 'EU'\ndays = 7\nload(region, days)")
    after = new_code_cell("region = 'EU'\ndays = 30\nload(region, days)\nsave()")
    [cell] = cells_of([before], [after])
    assert (cell["type"], cell["is_same"]) == ("code", False)
    assert list(map(tuple, cell["source"])) == [
        ("region = 'EU'", "region = 'EU'"),
        ("days = 7", "days = 30"),
        ("load(region, days)", "load(region, days)"),
        (None, "save()"),
    ]


def test_an_added_cell_leaves_the_others_alone_and_numbers_and_ids_of_a_run_do_not_count() -> None:
    one, two = "import pandas as pd", "frame = pd.read_csv('sales.csv')"
    left = [new_code_cell(one, execution_count=1), new_code_cell(two)]
    right = [new_code_cell(one, execution_count=9), new_markdown_cell("# Sales of the week"), new_code_cell(two)]
    found = cells_of(left, right)
    assert [(cell["type"], cell["is_same"]) for cell in found] == [("code", True), ("markdown", False), ("code", True)]
    assert list(map(tuple, found[1]["source"])) == [(None, "# Sales of the week")]


def test_outputs_are_compared_as_text_and_pictures_by_their_content() -> None:
    def plot(data: str) -> Any:
        return new_code_cell(
            "plot()", outputs=[new_output("display_data", {"image/png": data, "text/plain": "<Figure>"})]
        )

    [cell] = cells_of([plot("AAAA")], [plot("BBBB")])
    assert cell["outputs"][0] == ("<Figure>", "<Figure>")
    assert cell["outputs"][1][0] != cell["outputs"][1][1]
    error = new_output("error", ename="KeyError", evalue="'EU'", traceback=["\x1b[31mKeyError\x1b[0m: 'EU'"])
    [cell] = cells_of([new_code_cell("1")], [new_code_cell("1", outputs=[error])])
    assert list(map(tuple, cell["outputs"])) == [(None, "KeyError: 'EU'")]
    bar = new_output("stream", name="stderr", text="10 %\r20 %\r\n\x1b[32mdone\x1b[0m\n")
    [cell] = cells_of([new_code_cell("1")], [new_code_cell("1", outputs=[bar])])
    assert list(map(tuple, cell["outputs"])) == [(None, "20 %"), (None, "done")]


@given(st.lists(st.text("ab\n", max_size=6), max_size=5), st.lists(st.text("ab\n", max_size=6), max_size=5))
def test_both_notebooks_are_whole_in_what_is_shown(left: list[str], right: list[str]) -> None:
    found = cells_of([new_code_cell(text) for text in left], [new_code_cell(text) for text in right])
    shown = [[line for cell in found for pair in cell["source"] if (line := pair[side]) is not None] for side in (0, 1)]
    assert shown == [[line for text in texts for line in text.splitlines()] for texts in (left, right)]
