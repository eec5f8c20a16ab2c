"""`%svc_folders` on a real service, with our extensions and without."""

import pytest

from svc_jupyter.magics.display.errors import SvcServiceError, SvcUsageError


def test_a_folder_is_made_renamed_moved_and_listed(at_work, workplace, capsys):
    here = workplace.location
    at_work.value(f"%svc_folders create '{here}/reports'")
    at_work.value(f"%svc_folders create '{here}/archive'")
    at_work.value(f"%svc_folders rename '{here}/reports' 'weekly reports'")
    workplace.note("late", "/weekly reports")
    at_work.value(f"%svc_folders move '{here}/weekly reports' '{here}/archive/'")
    out = capsys.readouterr().out
    assert f"{here}/weekly reports is in {here}/archive now" in out
    frame = at_work.value(f"%svc_folders list '{here}/archive/weekly reports' -o inside")
    assert at_work.shell.user_ns["inside"] is frame
    assert frame[["name", "kind", "path"]].to_numpy().tolist() == [
        ["late", "note", f"{here}/archive/weekly reports/late"]
    ]
    assert frame["updated_at"].dt.tz is not None


def test_a_folder_is_named_by_its_id_too(at_work, workplace, capsys):
    number = workplace.folder("a")
    at_work.value(f"%svc_folders rename {number} b")
    assert f"folder {number} · {workplace.location}/b" in capsys.readouterr().out


def test_the_trees_are_apart(at_work, workplace):
    board = workplace.board("shown", workplace.note("n"))
    frame = at_work.value(f"%svc_folders list '{workplace.location}' --type notebook_dashboards")
    assert frame[["name", "kind", "id"]].to_numpy().tolist() == [["shown", "dashboard", board]]


def test_without_a_folder_the_roots_are_listed(at_work, workplace):
    frame = at_work.value("%svc_folders")
    assert {"Common", "Users/admin@localhost"} <= set(frame["path"])
    assert set(frame["kind"]) == {"folder"}


def test_a_deletion_says_how_much_goes_and_waits_for_a_yes(at_work, workplace, capsys):
    workplace.folder("doomed")
    workplace.note("a", "/doomed")
    error = at_work.error(f"%svc_folders delete '{workplace.location}/doomed'")
    assert isinstance(error, SvcUsageError)
    assert "takes 1 folder, 1 note, 0 dashboards, for good. Nothing was deleted; add --yes" in str(error)
    assert workplace.names() == ["doomed"]
    at_work.value(f"%svc_folders delete '{workplace.location}/doomed' --yes")
    assert "was deleted: 1 folder, 1 note, 0 dashboards" in capsys.readouterr().out
    assert workplace.names() == []


def test_a_service_that_cannot_say_what_goes_is_not_asked_to(at_bare_work, workplace):
    workplace.folder("doomed")
    error = at_bare_work.error(f"%svc_folders delete '{workplace.location}/doomed'")
    assert "takes all that is in it, for good. Nothing was deleted; add --yes" in str(error)
    assert workplace.names() == ["doomed"]


def test_a_folder_that_is_not_there_is_not_said_to_be_deletable(at_bare_work):
    error = at_bare_work.error("%svc_folders delete Common/nowhere")
    assert isinstance(error, SvcServiceError)
    assert "there is no folder Common/nowhere of notes" in str(error)


def test_a_refusal_of_the_service_is_one_readable_error(at_work, workplace):
    workplace.folder("a")
    here = workplace.location
    error = at_work.error(f"%svc_folders move '{here}' '{here}/a'")
    assert isinstance(error, SvcServiceError)
    assert f"{here} cannot be moved into itself" in str(error)
    assert at_work.error_text.startswith("SvcServiceError: ")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("create reports", "say where, as in %svc_folders create Common/reports"),
        ("shuffle", "there is no action 'shuffle'"),
        ("list Common --type jupyter", "invalid choice"),
        ("move Common/a", "required: DESTINATION"),
    ],
)
def test_a_line_that_cannot_be_read_is_reported(at_work, line, expected):
    error = at_work.error(f"%svc_folders {line}")
    assert isinstance(error, SvcUsageError)
    assert expected in str(error)


def test_in_a_terminal_the_panel_is_a_text(workplace, terminal, monkeypatch):
    workplace.note("late")
    monkeypatch.setenv("SVC_BASE_URL", workplace.service.base_url)
    monkeypatch.setenv("SVC_API_TOKEN", workplace.service.token)
    text = repr(terminal.value(f"%svc_folders panel '{workplace.location}'"))
    assert text.startswith("▾ Notes\n  ▾ Common")
    assert f"▾ {workplace.name}  (folder {workplace.folder_id})" in text
    assert "late  (note " in text
    assert "▾ Dashboards" in text
    error = terminal.error("%svc_folders panel Common/nowhere")
    assert "there is no folder Common/nowhere of notes" in str(error)
