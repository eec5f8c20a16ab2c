"""What can be done in the folder browser, where things can go, and how it is asked."""

import pytest

from svc_jupyter.widgets.folders.items import Item, Kind, trees
from svc_jupyter.widgets.folders.steps import Question, Step, possible_steps

ROOT = Item(Kind.FOLDER, "notes", 1, "Common", "Common", "", is_root=True)
FOLDER = Item(Kind.FOLDER, "notes", 2, "a", "Common/a", "Common")
BELOW = Item(Kind.FOLDER, "notes", 3, "b", "Common/a/b", "Common/a")
BESIDE = Item(Kind.FOLDER, "notes", 4, "ab", "Common/ab", "Common")
NOTE = Item(Kind.NOTE, "notes", 2, "late", "Common/a/late", "Common/a")
BOARDS = Item(Kind.FOLDER, "notebook_dashboards", 9, "Common", "Common", "", is_root=True)
BOARD = Item(Kind.DASHBOARD, "notebook_dashboards", 5, "shown", "Common/shown", "Common")


@pytest.mark.parametrize(
    ("item", "steps"),
    [
        (None, set()),
        (trees()[0], set()),
        (ROOT, {Step.NEW}),
        (FOLDER, set(Step)),
        (NOTE, {Step.RENAME, Step.MOVE, Step.DELETE}),
        (BOARD, {Step.RENAME, Step.MOVE, Step.DELETE}),
    ],
)
def test_the_possible_steps_follow_from_the_kind_of_item(item, steps):
    assert possible_steps(item) == steps


@pytest.mark.parametrize(
    ("item", "destination", "obstacle"),
    [
        (FOLDER, None, "choose a folder"),
        (FOLDER, BESIDE, None),
        (FOLDER, FOLDER, "it cannot be in itself"),
        (FOLDER, BELOW, "it cannot be in itself"),
        (FOLDER, ROOT, "it is in Common already"),
        (FOLDER, BOARDS, "other tree"),
        (FOLDER, NOTE, "late is not a folder"),
        (FOLDER, trees()[0], "Notes is not a folder"),
        (NOTE, ROOT, None),
        (NOTE, FOLDER, "it is in Common/a already"),
        (NOTE, BELOW, None),
        (BELOW, BESIDE, None),
    ],
)
def test_where_something_can_go(item, destination, obstacle):
    question = Question(Step.MOVE, item, destination)
    if obstacle is None:
        assert question.obstacle is None
        assert f"into {destination.location}?" in question.text
    else:
        assert obstacle in str(question.obstacle)


def test_a_question_names_what_it_is_about_and_what_goes():
    known = Question(Step.DELETE, FOLDER, consequences="deleting Common/a takes 2 folders, 1 note, 0 dashboards")
    assert known.text == ("Delete folder Common/a? Deleting Common/a takes 2 folders, 1 note, 0 dashboards, for good.")
    assert Question(Step.DELETE, FOLDER).text.endswith("All that is in it goes with it, for good.")
    assert "dashboards that show it go with it" in Question(Step.DELETE, NOTE).text
    assert Question(Step.DELETE, BOARD).text == "Delete dashboard Common/shown? It is gone for good."
    assert Question(Step.DELETE, FOLDER).yes == "Delete a"
    assert Question(Step.MOVE, FOLDER, BESIDE).yes == "Move a into Common/ab"
    assert Question(Step.RENAME, NOTE).yes == "Rename late"
