from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from svc_jupyter.service.workspace.notebook_documents import (
    NotANotebookError,
    NotebookDocument,
    empty_notebook,
    encoded,
    require_outline,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["cells", "id", "cell_type", "source", "outputs", "metadata", "data"]), inner)
    ),
    max_leaves=12,
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "nbformat": st.integers(0, 5) | JSON,
        "nbformat_minor": st.integers(-1, 7) | JSON,
        "cells": JSON,
        "metadata": JSON,
        "worksheets": JSON,
    },
)


@given(DOCUMENTS | JSON)
def test_a_document_is_a_notebook_or_refused_with_a_reason(content: Any):
    try:
        document = NotebookDocument.parse(json.dumps(content).encode())
    except NotANotebookError as error:
        event("no notebook")
        reason = str(error)
    else:
        assert_readable(document)
        reason = document.fault or "valid"
    assert 0 < len(reason) <= 300


def assert_readable(document: NotebookDocument) -> None:
    assert document.content["nbformat"] == 4
    if document.fault is None:
        read = nbformat.reads(document.serialised().decode(), as_version=4)
        assert read["cells"] == document.content["cells"]


def test_a_notebook_comes_back_as_it_was(notebook: dict[str, Any]):
    stored = NotebookDocument.of(notebook).serialised()
    assert '"print(1)\\n",\n' in stored.decode()  # line by line
    document = NotebookDocument.parse(stored)
    assert (document.content, document.fault) == (notebook, None)


def test_an_older_format_becomes_the_newest():
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": "old"},
        "worksheets": [
            {"metadata": {}, "cells": [{"cell_type": "code", "language": "python", "input": "1", "outputs": []}]}
        ],
    }
    document = NotebookDocument.of(old)
    assert (document.content["nbformat"], document.fault) == (4, None)
    assert document.content["cells"][0]["source"] == "1"


def test_cells_without_an_id_or_with_the_same_one_get_their_own(notebook: dict[str, Any]):
    cell = notebook["cells"][0]
    nameless = {key: value for key, value in cell.items() if key != "id"}
    document = NotebookDocument.of(notebook | {"cells": [cell, dict(cell), nameless]})
    assert document.fault is None
    assert [made["id"] for made in document.content["cells"]] == [cell["id"], "cell-2", "cell-3"]
    assert document.repairs == ["cells without an id of their own got one"]


def test_unpaired_surrogates_and_nan_are_converted_to_valid_json(notebook: dict[str, Any]):
    notebook["metadata"] = {"half": "\ud800"}
    stored = NotebookDocument.of(notebook).serialised()
    assert NotebookDocument.parse(stored).content["metadata"]["half"] == "\ud800"
    number = json.dumps(notebook).replace('"half"', '"x": NaN, "half"').encode()
    assert NotebookDocument.parse(number).content["metadata"]["x"] is None
    assert json.loads(encoded(json.dumps("a\ud800é", ensure_ascii=False))) == "a\ud800é"


def test_a_document_of_an_old_format_with_a_cell_of_an_unknown_type_is_refused():
    with pytest.raises(NotANotebookError, match="lacks a part of a notebook"):
        NotebookDocument.of({"nbformat": 1, "cells": [{"cell_type": "sound"}]})


def test_an_invalid_notebook_is_reported():
    def refusal(read: Callable[[bytes], object], data: bytes) -> str:
        with pytest.raises(NotANotebookError) as refused:
            read(data)
        return str(refused.value).partition(" (")[0]

    reasons = {
        b"": "it is not JSON",
        b"\xff\xfe\xfd": "it is not JSON",
        b"[" * 100_000: "its JSON is nested too deeply",
        b"[]": "it is not a JSON object",
        b"{}": "it has no valid nbformat and nbformat_minor",
        b'{"nbformat": true, "nbformat_minor": 0}': "it has no valid nbformat and nbformat_minor",
        b'{"nbformat": 4, "nbformat_minor": "5"}': "it has no valid nbformat and nbformat_minor",
        b'{"nbformat": 5, "nbformat_minor": 0}': "it is of notebook format 5; this service reads formats up to 4",
    }
    wanted = list(reasons.values())
    assert [refusal(NotebookDocument.parse, data) for data in reasons] == wanted
    assert [refusal(require_outline, data) for data in reasons] == wanted


def test_a_fault_names_its_place(notebook: dict[str, Any]):
    notebook["cells"][0]["execution_count"] = "one"
    document = NotebookDocument.of(notebook)
    assert document.fault is not None
    assert "['cells'][0]['execution_count']" in document.fault
    with pytest.raises(NotANotebookError, match="execution_count"):
        document.require_valid()


def test_formats_to_come_cost_the_memory_of_one(notebook: dict[str, Any]):
    for minor in range(6, 30):
        assert NotebookDocument.of(notebook | {"nbformat_minor": minor}).fault is None
    assert len([key for key in nbformat.validator.validators if key[2] > 5]) == 1


def test_a_new_notebook_is_valid_and_names_its_kernel():
    for kernel, name, display_name in ((None, "python3", "Python 3 (ipykernel)"), ("ir", "ir", "ir")):
        document = NotebookDocument.parse(empty_notebook(kernel))
        assert document.fault is None
        kernelspec = document.content["metadata"]["kernelspec"]
        assert (kernelspec["name"], kernelspec["display_name"]) == (name, display_name)
