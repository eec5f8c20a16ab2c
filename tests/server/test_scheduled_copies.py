"""Which copy a notebook's schedules run, and whether it is still the same."""

from __future__ import annotations

from svc_jupyter.server.scheduled_copies import parents_of, place_of, same_to_run


def test_a_copy_lies_under_the_users_own_folder_by_the_notebooks_path() -> None:
    place = place_of("ann@example.com", "/a/b.ipynb")
    assert place == "Users/ann@example.com/Scheduled/a/b.ipynb"
    assert parents_of(place) == ["Users/ann@example.com/Scheduled", "Users/ann@example.com/Scheduled/a"]


def notebook(source: str | list[str], *tags: str, **more: object) -> dict[str, object]:
    return {"cells": [{"cell_type": "code", "source": source, "metadata": {"tags": list(tags)}, **more}]}


def test_outputs_do_not_make_a_notebook_another_one() -> None:
    assert same_to_run(notebook("1\n2"), notebook(["1\n", "2"], outputs=[{"x": 1}], execution_count=3))


def test_sources_tags_and_cells_do() -> None:
    assert not same_to_run(notebook("1"), notebook("2"))
    assert not same_to_run(notebook("1"), notebook("1", "raises-exception"))
    assert not same_to_run(notebook("1"), {"cells": []})
