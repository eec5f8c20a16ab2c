"""A note as a notebook and back, and a notebook as a note and back: nothing is lost."""

from __future__ import annotations

import copy
import json
from typing import Any

import nbformat
import pytest
from hypothesis import given
from tests.service.workspace.note_samples import DOCUMENTS, IPYNB, NOTEBOOKS, ZPLN

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.workspace.note_documents import checked, packed, unpacked
from svc_jupyter.service.workspace.note_files import note_of, notebook_of


def travelled(value: dict[str, Any]) -> Any:
    """What a file of it holds."""
    return json.loads(json.dumps(value))


def test_a_real_note_comes_back_from_a_notebook_as_it_was():
    notebook = travelled(notebook_of(ZPLN))
    nbformat.validate(notebook)
    assert note_of(notebook).document == ZPLN
    assert [cell["cell_type"] for cell in notebook["cells"]][:3] == ["markdown", "code", "code"]
    assert notebook["cells"][0]["source"] == "## Delays\nby *carrier*"
    table, error = notebook["cells"][1], notebook["cells"][2]
    assert table["outputs"][0]["data"] == {"text/plain": "carrier\tdelay\nAA\t8.5\nUA\t12.1\n"}
    assert [output["data"]["text/plain"] for output in error["outputs"]] == ["before\n", "ValueError: ü"]


def test_markdown_with_a_form_is_a_cell_that_runs():
    texts = ["%md\n# ${city=Paris}", "%md\n# {city}", "%md ![](attachment:a.png) ${city}"]
    note = {"paragraphs": [{"id": f"p{number}", "text": text} for number, text in enumerate(texts)]}
    note["paragraphs"][2]["ipynb"] = {"attachments": {"a.png": {"image/png": "iVBORw0KGgo="}}}
    notebook = travelled(notebook_of(checked(note)))
    assert [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]] == [
        ("code", "%md\n# ${city=Paris}"),
        ("markdown", "# {city}"),
        ("markdown", "![](attachment:a.png) ${city}"),
    ]
    back = note_of(notebook).document
    assert [paragraph["text"] for paragraph in back["paragraphs"]] == texts


def test_a_real_notebook_comes_back_from_a_note_as_it_was():
    note = checked(note_of(IPYNB).document)
    assert travelled(notebook_of(note)) == IPYNB
    texts = [paragraph["text"] for paragraph in note["paragraphs"]]
    assert texts[0].startswith("%md\n# Title")
    results = note["paragraphs"][1]["results"]
    assert results["code"] == "ERROR"
    assert [message["type"] for message in results["msg"]] == ["TEXT", "HTML", "HTML", "TEXT"]
    assert results["msg"][2]["data"] == '<img src="data:image/png;base64,iVBORw0KGgo=">'


@given(DOCUMENTS)
def test_any_note_comes_back(document: dict[str, Any]):
    note = checked(document)
    notebook = travelled(notebook_of(note))
    nbformat.validate(notebook)
    assert note_of(notebook).document == note
    assert unpacked(packed(note)[0]) == note


@given(NOTEBOOKS)
def test_any_notebook_comes_back(notebook: dict[str, Any]):
    nbformat.validate(notebook)
    note = checked(note_of(notebook).document)
    assert travelled(notebook_of(note)) == notebook
    # And through the other format, and from there once more.
    assert travelled(notebook_of(checked(travelled(note)))) == notebook


def test_text_and_outputs_changed_in_the_notebook_replace_those_of_the_note():
    notebook = travelled(notebook_of(ZPLN))
    cell = notebook["cells"][1]
    cell["source"] = "%sql\nselect 1"
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1\n"}]
    notebook["cells"][2]["outputs"] = []
    note = note_of(notebook).document
    changed, cleared = note["paragraphs"][1], note["paragraphs"][2]
    assert changed["text"] == "%sql\nselect 1"
    assert changed["results"] == {"code": "SUCCESS", "msg": [{"type": "TEXT", "data": "1\n"}]}
    assert changed["settings"] == ZPLN["paragraphs"][1]["settings"]
    assert "results" not in cleared
    assert travelled(notebook_of(note))["cells"][1]["outputs"] == cell["outputs"]


def test_results_of_a_run_replace_the_outputs_that_came_with_the_notebook():
    note = note_of(IPYNB).document
    note["paragraphs"][1]["results"] = {"code": "SUCCESS", "msg": [{"type": "TEXT", "data": "new"}]}
    outputs = notebook_of(note)["cells"][1]["outputs"]
    assert [output["data"] for output in outputs] == [{"text/plain": "new"}]


def test_older_notebooks_become_new_ones():
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": "old"},
        "worksheets": [
            {"cells": [{"cell_type": "code", "language": "python", "input": ["1 +\n", "1"], "outputs": []}]}
        ],
    }
    note = note_of(old).document
    assert note["paragraphs"][0]["text"] == "1 +\n1"
    nbformat.validate(travelled(notebook_of(note)))


def test_foreign_words_in_a_note_make_no_broken_notebook():
    note = copy.deepcopy(ZPLN)
    for number, junk in enumerate(
        [
            {"cell_type": "code", "outputs": [{"output_type": "stream"}]},
            {"cell_type": "nonsense", "id": 7, "metadata": []},
            {"outputs": "text", "execution_count": "many"},
            ["no object"],
        ]
    ):
        note["paragraphs"][number]["ipynb"] = junk
    note["ipynb"] = {"nbformat_minor": "five", "metadata": 3}
    notebook = travelled(notebook_of(note))
    nbformat.validate(notebook)
    assert [p["text"] for p in note_of(notebook).document["paragraphs"][:3]] == [
        p["text"] for p in ZPLN["paragraphs"][:3]
    ]


def test_an_invalid_notebook_is_refused():
    def refusal(cell: Any) -> str:
        with pytest.raises(Invalid, match="cells: this is not a notebook: ") as refused:
            note_of({"cells": [cell]})
        return refused.value.message.removeprefix("cells: this is not a notebook: ")

    refused: list[tuple[Any, str]] = [
        (1, "it lacks a part of a notebook, or has one of a wrong type"),
        (
            {"cell_type": "code", "source": 1},
            "['cells'][0]['source']: 1 is not valid under any of the given schemas",
        ),
        (
            {"cell_type": "odd", "metadata": {}, "source": ""},
            "['cells'][0]: {'cell_type': 'odd', 'metadata': {}, 'source': '', 'id': 'cell-1'} is not valid under any "
            "of the given schemas",
        ),
    ]
    assert [(cell, refusal(cell)) for cell, _ in refused] == refused
