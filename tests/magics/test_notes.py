"""`%svc_notes` on a real service."""

import json

import pytest

from svc_jupyter.magics.display.errors import SvcServiceError, SvcUsageError

ZPLN = {
    "name": "delays",
    "paragraphs": [
        {"title": "Late <flights>", "text": "%sql\nselect '${carrier=AA}'"},
        {"text": "%md\n" + "\n".join(f"line {number}" for number in range(20))},
    ],
}


@pytest.fixture
def zpln(tmp_path):
    file = tmp_path / "delays.zpln"
    file.write_text(json.dumps(ZPLN))
    return file


def test_a_note_comes_from_a_file_and_goes_back_to_one(at_work, workplace, zpln, tmp_path, capsys):
    here = workplace.location
    at_work.value(f"%svc_notes import {zpln} --to '{here}'")
    assert f"{here}/delays · version 1" in capsys.readouterr().out
    target = tmp_path / "out.ipynb"
    at_work.value(f"%svc_notes export '{here}/delays' --to {target}")
    assert json.loads(target.read_text())["cells"][1]["cell_type"] == "markdown"
    error = at_work.error(f"%svc_notes export '{here}/delays' --to {target}")
    assert "out.ipynb is there already; add --yes to replace it" in str(error)
    at_work.value(f"%svc_notes export '{here}/delays' --to {target} --format zpln --yes")
    assert json.loads(target.read_text())["paragraphs"][0]["title"] == "Late <flights>"
    at_work.value(f"%svc_notes import {target} --to '{here}' --name again")
    assert workplace.names() == ["again", "delays"]


def test_a_repair_is_reported_once(at_work, workplace, tmp_path, capsys):
    cell = {"cell_type": "markdown", "source": "# A", "metadata": {"tags": None}}
    file = tmp_path / "foreign.ipynb"
    file.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}))
    said = "\nthe notebook was repaired: tags that were no list of different words were put right\n"
    at_work.value(f"%svc_notes import {file} --to '{workplace.location}'")
    assert capsys.readouterr().out.endswith(said)
    workplace.service.http.put("/account/features", json={"jupyter_notebooks": True})
    at_work.value(f"%svc_notebooks upload {file} --to 'Common/{workplace.name}.ipynb'")
    assert capsys.readouterr().out.startswith(said[1:])


def test_a_file_goes_to_ones_own_folder_by_default(at_work, workplace, zpln):
    at_work.value(f"%svc_notes import {zpln} --name '{workplace.name}'")
    at_work.value(f"%svc_notes delete 'Users/admin@localhost/{workplace.name}' --yes")


def test_a_note_shows_what_it_says(at_work, workplace):
    number = workplace.note("delays", paragraphs=ZPLN["paragraphs"])
    note = at_work.value(f"%svc_notes show '{workplace.location}/delays' -o note")
    assert at_work.shell.user_ns["note"] is note
    assert (note.id, note.forms) == (number, {"carrier": "AA"})
    assert list(note.paragraphs["title"]) == ["Late <flights>", ""]
    text = repr(note)
    assert text.startswith(f"note {number} · {workplace.location}/delays")
    assert "… 15 more lines" in text
    html = at_work.result_data["text/html"]
    assert "Late &lt;flights&gt;" in html
    assert "version 1 · revision 1" in html


def test_a_note_is_renamed_moved_copied_bound_and_deleted(at_work, workplace, capsys):
    here, number = workplace.location, workplace.note("a")
    workplace.folder("sub")
    at_work.value(f"%svc_notes rename {number} 'a b'")
    at_work.value(f"%svc_notes move '{here}/a b' '{here}/sub'")
    at_work.value(f"%svc_notes clone {number} --to '{here}' --name copy")
    at_work.value(f"%svc_notes bind {number} 7")
    assert f"note {number} · {here}/sub/a b · version 4 · bound to cluster 7" in capsys.readouterr().out
    frame = at_work.value(f"%svc_notes list '{here}/sub'")
    assert frame[["name", "id", "cluster_id", "version"]].to_numpy().tolist() == [["a b", number, 7, 4]]
    error = at_work.error(f"%svc_notes delete {number}")
    assert isinstance(error, SvcUsageError)
    assert "would go for good. Nothing was deleted; add --yes" in str(error)
    at_work.value(f"%svc_notes delete {number} --yes")
    assert (workplace.names(), workplace.names("/sub")) == (["sub", "copy"], [])


def test_earlier_states_are_listed_and_restored(at_work, workplace):
    number = workplace.note("a", paragraphs=[{"text": "first"}])
    workplace.service.http.put(f"/notebooks/{number}", json={"paragraphs": [{"text": "second"}]})
    frame = at_work.value(f"%svc_notes revisions {number}")
    assert list(frame["number"]) == [2, 1]
    at_work.value(f"%svc_notes restore {number} 1")
    assert list(at_work.value(f"%svc_notes show {number}").paragraphs["text"]) == ["first"]


def test_a_note_is_published_and_its_dashboards_are_listed(at_work, workplace, capsys):
    here, number = workplace.location, workplace.note("a")
    at_work.value(f"%svc_notes publish '{here}/a' '{here}'")
    at_work.value(f"%svc_notes publish {number} '{here}' --name second")
    assert f"{here}/second" in capsys.readouterr().out
    frame = at_work.value(f"%svc_notes dashboards {number}")
    assert frame[["name", "note_id", "note_revision"]].to_numpy().tolist() == [["second", number, 1], ["a", number, 1]]
    at_work.value(f"%svc_notes delete {number} --yes")
    assert "and 2 of its dashboards deleted" in capsys.readouterr().out


def test_an_empty_list_has_its_types(at_work, workplace):
    frame = at_work.value(f"%svc_notes list '{workplace.location}'")
    assert frame.empty
    assert (str(frame["cluster_id"].dtype), frame["updated_at"].dtype.kind) == ("Int64", "M")


def test_a_note_is_made_empty(at_work, workplace, capsys):
    at_work.value(f"%svc_notes create '{workplace.location}/new' --note-type presto --cluster 3")
    assert "new · version 1 · bound to cluster 3" in capsys.readouterr().out


def test_an_unknown_note_file_or_location_is_reported(at_work, workplace):
    workplace.note("delays")
    here = workplace.location
    refused = {
        f"show '{here}/dleays'": (SvcServiceError, f"there is no note {here}/dleays. Did you mean delays?"),
        "show delays": (SvcServiceError, "name it by its id or its location, such as Common/reports/delays"),
        "show 999999999": (SvcServiceError, "there is no note 999999999"),
        "create late": (SvcUsageError, "say where, as in %svc_notes create Common/late"),
        "import nowhere.zpln": (SvcUsageError, "there is no file nowhere.zpln"),
        "import .": (SvcUsageError, "directory"),
    }
    errors = {line: at_work.error(f"%svc_notes {line}") for line in refused}
    assert {line: type(error) for line, error in errors.items()} == {line: kind for line, (kind, _) in refused.items()}
    assert {line: error for line, error in errors.items() if refused[line][1] not in str(error)} == {}
