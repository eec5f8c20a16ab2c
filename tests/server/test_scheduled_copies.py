"""Where the copies of a notebook lie that its schedules run, and whether they are still the same."""

from __future__ import annotations

from svc_jupyter.server.scheduled_copies import CopyPaths, parents_of, place_in, same_to_run

PLACES = CopyPaths("ann@example.com", "ab12")


def test_each_copy_lies_in_a_folder_of_its_own_under_the_users() -> None:
    folder = PLACES.new_folder()
    assert folder.startswith("Users/ann@example.com/Scheduled/ab12-")
    assert folder != PLACES.new_folder()
    place = place_in(folder, "/a/b.ipynb")
    assert place == f"{folder}/a/b.ipynb"
    assert parents_of(place) == ["Users/ann@example.com/Scheduled", folder, f"{folder}/a"]


def test_a_copy_shows_which_notebook_of_which_server_it_is_of() -> None:
    place = place_in(PLACES.new_folder(), "a/b.ipynb")
    assert PLACES.is_copy_of("/a/b.ipynb", place)
    assert not PLACES.is_copy_of("b.ipynb", place)
    assert not CopyPaths("ann@example.com", "cd34").is_copy_of("a/b.ipynb", place)
    assert not CopyPaths("bob@example.com", "ab12").is_copy_of("a/b.ipynb", place)
    assert not PLACES.is_copy_of("a/b.ipynb", None)


def test_folders_of_other_servers_are_not_its_own() -> None:
    assert PLACES.own(["ab12-1", "cd34-1", "ab12", "ab123-1", "a"]) == ["ab12-1"]


def notebook(source: str | list[str], *tags: str, **more: object) -> dict[str, object]:
    return {"cells": [{"cell_type": "code", "source": source, "metadata": {"tags": list(tags)}, **more}]}


def test_outputs_do_not_make_a_notebook_another_one() -> None:
    assert same_to_run(notebook("1\n2"), notebook(["1\n", "2"], outputs=[{"x": 1}], execution_count=3))


def test_sources_tags_and_cells_do() -> None:
    assert not same_to_run(notebook("1"), notebook("2"))
    assert not same_to_run(notebook("1"), notebook("1", "raises-exception"))
    assert not same_to_run(notebook("1"), {"cells": []})
