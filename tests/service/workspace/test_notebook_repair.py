"""What other programs write into notebooks is put right in one place, and refused only where it cannot be read."""

from __future__ import annotations

import copy
from typing import Any

import nbformat

from svc_jupyter.service.workspace.notebook_documents import NotebookDocument
from svc_jupyter.service.workspace.notebook_repair import repaired


def code(**parts: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": "1", "metadata": {}, "outputs": [], "execution_count": None} | parts


def markdown(**parts: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": "# A", "metadata": {}} | parts


def read(*cells: dict[str, Any], minor: int = 4, **parts: Any) -> NotebookDocument:
    """Return the notebook of such cells as the service reads it; other programs must be able to open it."""
    written = {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": list(cells)} | parts
    before = copy.deepcopy(written)
    document = NotebookDocument.of(written)
    assert written == before
    document.require_valid()
    nbformat.validate(nbformat.reads(document.serialised().decode(), as_version=nbformat.NO_CONVERT))
    again = NotebookDocument.parse(document.serialised())
    assert (again.content, again.repairs) == (document.content, [])
    return document


def outputs(*written: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    document = read(code(outputs=list(written)))
    return document.content["cells"][0]["outputs"], list(document.repairs)


def test_ids_of_cells_before_4_5_are_kept_and_the_others_get_one():
    documents = [read(code(id="x1"), markdown(), code(id="cell-2"), code(id="x1"), minor=minor) for minor in range(5)]
    assert [document.content["nbformat_minor"] for document in documents] == [5] * 5
    ids = [[cell["id"] for cell in document.content["cells"]] for document in documents]
    assert ids == [["x1", "cell-2-2", "cell-2", "cell-4"]] * 5
    assert {document.note for document in documents} == {
        "the notebook was repaired: the format became 4.5, which has ids of cells; "
        "cells without an id of their own got one"
    }


def test_a_notebook_in_order_stays_as_it_is_and_nothing_is_said():
    for minor, cells in ((4, [code(), markdown()]), (5, [code(id="a"), markdown(id="b")])):
        document = read(*cells, minor=minor)
        assert (document.content["cells"], document.content["nbformat_minor"]) == (cells, minor)
        assert (document.repairs, document.note) == ([], None)


def test_an_id_that_none_can_be_is_replaced():
    wrong = [None, 5, "", "with space", "x" * 65, ["a"]]
    cells = [read(code(id=one), minor=5).content["cells"][0] for one in wrong]
    assert [cell["id"] for cell in cells] == ["cell-1"] * 6


def test_tags_become_a_list_of_different_words():
    tags: list[tuple[Any, list[str]]] = [
        (None, []),
        ("parameters", ["parameters"]),
        (["a", "b", "a"], ["a", "b"]),
        (["a,b", " ", None, 3, ""], ["a", "b"]),
        ({"a": 1}, []),
    ]
    documents = [read(code(metadata={"tags": written, "mine": 1})) for written, _ in tags]
    assert [document.content["cells"][0]["metadata"] for document in documents] == [
        {"tags": kept, "mine": 1} for _, kept in tags
    ]
    said = ["tags that were no list of different words were put right"]
    assert [document.repairs for document in documents] == [said] * 5


def test_outputs_of_a_markdown_cell_are_left_out_and_said_when_they_hold_something():
    empty = read(markdown(outputs=[], execution_count=None, attachments=None))
    assert empty.content["cells"] == [markdown()]
    assert empty.repairs == ["parts that such a cell does not have, with nothing in them, were left out"]
    full = read(markdown(outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}]))
    assert full.content["cells"] == [markdown()]
    assert full.repairs == ["outputs of cells that are not code were left out"]


def test_parts_at_a_wrong_place_are_kept_as_metadata():
    document = read(code(collapsed=True, language="sql", attachments={"a.png": {"image/png": "AA=="}}))
    assert document.content["cells"][0]["metadata"] == {
        "collapsed": True,
        "language": "sql",
        "attachments": {"a.png": {"image/png": "AA=="}},
    }
    document = read(code(), toc={"depth": 2})
    assert document.content["metadata"] == {"toc": {"depth": 2}}
    assert document.repairs == ["parts at a wrong place were moved into the metadata"]


def test_missing_parts_are_filled_in():
    document = read({"cell_type": "code"}, {"cell_type": "raw", "source": None, "metadata": None}, metadata=None)
    assert document.content["metadata"] == {}
    first, second = document.content["cells"]
    assert first == {"cell_type": "code", "metadata": {}, "source": "", "outputs": [], "execution_count": None}
    assert second == {"cell_type": "raw", "metadata": {}, "source": ""}


def test_metadata_that_the_format_forbids_is_left_out_and_the_rest_stays():
    cell = code(metadata={"collapsed": "yes", "mine": {"a": 1}})
    document = read(cell, metadata={"kernelspec": {"name": "python3"}, "language_info": {}, "title": "T"})
    assert document.content["cells"][0]["metadata"] == {"mine": {"a": 1}}
    assert document.content["metadata"] == {
        "kernelspec": {"name": "python3", "display_name": "python3"},
        "title": "T",
    }
    assert "metadata that the format forbids was left out" in document.repairs


OUTPUTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"output_type": "databricks.v1", "data": {"text/html": ["<b>", "1"]}, "addedWidgets": {}},
        {"output_type": "display_data", "data": {"text/html": "<b>1"}, "metadata": {}},
    ),
    (
        {"output_type": "ansi", "text": "done"},
        {"output_type": "stream", "name": "stdout", "text": "done"},
    ),
    (
        {"output_type": "tableResultWithSchema", "rows": [[1, "a"]]},
        {
            "output_type": "display_data",
            "data": {"application/json": {"output_type": "tableResultWithSchema", "rows": [[1, "a"]]}},
            "metadata": {},
        },
    ),
    (
        {"ename": "E", "evalue": "bad", "traceback": ["E: bad"]},
        {"output_type": "error", "ename": "E", "evalue": "bad", "traceback": ["E: bad"]},
    ),
    (
        {"output_type": "display_data", "data": {"text/plain": 3}, "transient": {}},
        {"output_type": "display_data", "data": {"text/plain": "3"}, "metadata": {}},
    ),
    (
        {"output_type": "execute_result", "data": {"application/vnd.x+json": {"a": 1}}},
        {
            "output_type": "execute_result",
            "data": {"application/vnd.x+json": {"a": 1}},
            "metadata": {},
            "execution_count": None,
        },
    ),
]


def test_an_output_of_another_form_becomes_one_that_notebooks_have():
    said = ["outputs of a form that notebooks do not have were put into one that they have"]
    assert [outputs(written) for written, _ in OUTPUTS] == [([kept], said) for _, kept in OUTPUTS]


def test_parts_of_formats_to_come_stay():
    written = {
        "nbformat": 4,
        "nbformat_minor": 9,
        "metadata": {},
        "cells": [code(id="a", mood="good", outputs=[{"output_type": "hologram"}])],
    }
    found, done = repaired(written)
    assert (found, done) == (written, [])


def test_a_cell_that_cannot_be_read_is_left_to_be_refused():
    cells = [5, {}, {"cell_type": "sound"}, code(source=5), code(metadata=[]), code(outputs="a")]
    notebooks = [{"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]} for cell in cells]
    assert [repaired(notebook)[0]["cells"] for notebook in notebooks] == [[cell] for cell in cells]
