"""What can be done in the folder browser, where things can go, and how it is asked."""

from svc_jupyter.widgets.folders.items import Item, Kind, trees
from svc_jupyter.widgets.folders.steps import Question, Step, possible_steps

ROOT = Item(Kind.FOLDER, "notes", 1, "Common", "Common", "", is_root=True)
FOLDER = Item(Kind.FOLDER, "notes", 2, "a", "Common/a", "Common")
BELOW = Item(Kind.FOLDER, "notes", 3, "b", "Common/a/b", "Common/a")
BESIDE = Item(Kind.FOLDER, "notes", 4, "ab", "Common/ab", "Common")
NOTE = Item(Kind.NOTE, "notes", 2, "late", "Common/a/late", "Common/a")
BOARDS = Item(Kind.FOLDER, "notebook_dashboards", 9, "Common", "Common", "", is_root=True)
BOARD = Item(Kind.DASHBOARD, "notebook_dashboards", 5, "shown", "Common/shown", "Common")


def test_the_possible_steps_follow_from_the_kind_of_item():
    assert [possible_steps(item) for item in (None, trees()[0], ROOT)] == [set(), set(), {Step.NEW}]
    assert possible_steps(FOLDER) == set(Step)
    assert possible_steps(NOTE) == possible_steps(BOARD) == {Step.RENAME, Step.MOVE, Step.DELETE}


def obstacle(item, destination):
    return Question(Step.MOVE, item, destination).obstacle


def test_something_can_go_into_a_folder_that_it_is_not_in():
    moves = [
        Question(Step.MOVE, item, place)
        for item, place in ((FOLDER, BESIDE), (NOTE, ROOT), (NOTE, BELOW), (BELOW, BESIDE))
    ]
    assert [move.obstacle for move in moves] == [None] * 4
    assert [move.text for move in moves] == [
        "Move Common/a with all that is in it into Common/ab? Ids, policies and schedules go on.",
        "Move Common/a/late (note) into Common? Ids, policies and schedules go on.",
        "Move Common/a/late (note) into Common/a/b? Ids, policies and schedules go on.",
        "Move Common/a/b with all that is in it into Common/ab? Ids, policies and schedules go on.",
    ]


def test_an_obstacle_says_why_something_cannot_go_there():
    assert obstacle(FOLDER, None) == "choose a folder"
    assert obstacle(FOLDER, FOLDER) == obstacle(FOLDER, BELOW) == "it cannot be in itself; choose another folder"
    assert obstacle(FOLDER, ROOT) == "it is in Common already; choose another folder"
    assert obstacle(NOTE, FOLDER) == "it is in Common/a already; choose another folder"
    assert obstacle(FOLDER, BOARDS) == "Common is in the other tree; choose a folder of this one"
    assert obstacle(FOLDER, NOTE) == "late is not a folder; choose one"
    assert obstacle(FOLDER, trees()[0]) == "Notes is not a folder; choose one"


def test_a_question_names_what_it_is_about_and_what_goes():
    known = Question(Step.DELETE, FOLDER, consequences="deleting Common/a takes 2 folders, 1 note, 0 dashboards")
    assert known.text == ("Delete folder Common/a? Deleting Common/a takes 2 folders, 1 note, 0 dashboards, for good.")
    assert Question(Step.DELETE, FOLDER).text.endswith("All that is in it goes with it, for good.")
    assert "dashboards that show it go with it" in Question(Step.DELETE, NOTE).text
    assert Question(Step.DELETE, BOARD).text == "Delete dashboard Common/shown? It is gone for good."
    assert Question(Step.DELETE, FOLDER).yes == "Delete a"
    assert Question(Step.MOVE, FOLDER, BESIDE).yes == "Move a into Common/ab"
    assert Question(Step.RENAME, NOTE).yes == "Rename late"
