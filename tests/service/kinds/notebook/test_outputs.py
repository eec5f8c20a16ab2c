"""What a notebook keeps of outputs: what a terminal would show, up to a limit."""

from __future__ import annotations

from nbformat import NotebookNode

from svc_jupyter.service.kinds.notebook.outputs import CUT, OVERHEAD, Budget, StreamText, fits, last_text, size_of


def stream(text="", budget=None):
    return StreamText(NotebookNode(output_type="stream", name="stdout", text=text), budget or Budget())


LINES = [
    (["a", "b\n", "c"], "ab\nc"),
    (["\r1 %", "\r50 %", "\r100 %\n", "done\n"], "100 %\ndone\n"),
    (["half", "\r"], "half\r"),
    (["line\r\nnext\r\n"], "line\r\nnext\r\n"),
    (["kept\nover", "\rwritten"], "kept\nwritten"),
]


def test_a_line_begun_anew_is_what_it_became():
    def kept(parts):
        growing = stream()
        for part in parts:
            growing.add(part)
            growing.settle()
        settled = growing.node["text"]
        growing.close()
        return settled, growing.node["text"]

    assert [(parts, *kept(parts)) for parts, _ in LINES] == [(parts, text, text) for parts, text in LINES]


def test_progress_that_overwrites_itself_costs_nothing_of_the_budget():
    budget = Budget(cell_limit=10_000)
    growing = stream(budget=budget)
    for number in range(200_000):
        growing.add(f"\r{number}")
    growing.close()
    assert growing.node["text"] == "199999"
    assert budget.left > 9_000


def test_a_text_over_the_limit_is_cut_at_a_line_and_says_so_once():
    growing = stream(budget=Budget(cell_limit=10 * size_of("x" * 9 + "\n")))
    for _ in range(30):
        growing.add(("x" * 9 + "\n") * 1000)
    growing.close()
    assert growing.node["text"].startswith("x" * 9 + "\n")
    assert growing.node["text"].count("\n", 0, -len(CUT)) == 10
    assert growing.node["text"].count(CUT) == 1


def test_a_line_without_an_end_is_cut_too():
    growing = stream(budget=Budget(cell_limit=100_000))
    for _ in range(300):
        growing.add("x" * 1000)
    growing.close()
    assert growing.node["text"] == "x" * 100_000 + CUT


def test_cells_share_the_limit_of_the_notebook():
    budget = Budget(cell_limit=100, notebook_limit=150)
    assert budget.take(100)
    budget.next_cell()
    assert budget.left == 50
    assert not budget.take(51)
    budget.clear()
    assert budget.left == 50


def test_a_display_over_the_limit_is_a_note_and_those_after_the_last_room_are_gone():
    budget = Budget(cell_limit=3 * OVERHEAD)
    large = {"data": {"image/png": "x" * 5000}, "metadata": {"image/png": {}}}
    assert fits(large, budget, {})
    assert large == {
        "data": {"text/plain": "[an output of 5,009 characters was left out of the notebook]"},
        "metadata": {},
    }
    small = [{"data": {"text/plain": "1"}, "metadata": {}} for _ in range(5)]
    assert [fits(display, budget, {}) for display in small] == [True, True, False, False, False]
    assert small[0]["data"] == {"text/plain": "1"}
    assert "left out" in small[1]["data"]["text/plain"]


def test_a_display_that_is_updated_takes_only_what_it_grows_by():
    budget, displays = Budget(cell_limit=2 * OVERHEAD), {}
    for _ in range(1000):
        update = {"data": {"text/plain": "x" * 500}, "metadata": {}, "transient": {"display_id": "bar"}}
        assert fits(update, budget, displays)
        assert update["data"] == {"text/plain": "x" * 500}


def cell(*outputs):
    return {"outputs": list(outputs)}


def test_the_result_is_the_text_of_the_last_cell_that_has_any():
    shown = {"output_type": "execute_result", "data": {"text/plain": "\x1b[31m42\x1b[0m", "text/html": "<b>42</b>"}}
    said = {"output_type": "stream", "name": "stdout", "text": "said\n"}
    complained = {"output_type": "stream", "name": "stderr", "text": "complained\n"}
    failed = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["no"]}
    image = {"output_type": "display_data", "data": {"image/png": "x"}}
    assert (
        last_text([cell(said), cell(said, complained, shown), cell(image, failed), {"cell_type": "raw"}])
        == "said\n42\n"
    )
    assert last_text([cell(complained)]) is None
    assert last_text([]) is None
