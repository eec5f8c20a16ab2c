"""Completion of folders, notes, users and groups, through the shell's own completer and a real service."""

import pytest
from IPython.core.completer import provisionalcompleter


@pytest.fixture
def offered(at_work, wait_until):
    """Return the texts that the shell offers at the end of a text once the service has answered."""

    def texts(text):
        with provisionalcompleter():
            return {completion.text for completion in at_work.shell.Completer.completions(text, len(text))}

    def once_known(text, expected):
        wait_until(lambda: expected in texts(text))
        return texts(text)

    return once_known


def test_actions_and_options(offered):
    assert offered("%svc_folders m", "move") == {"move"}
    assert offered("%svc_notes re", "rename") == {"rename", "revisions", "restore"}
    assert offered("%svc_policy allow note 7 --action m", "manage") == {"manage"}
    assert offered("%svc_folders list --type n", "notes") == {"notes", "notebook_dashboards"}
    assert offered("%svc_policy show s", "schedule") == {"schedule"}


def test_locations_step_by_step(offered, workplace):
    workplace.note("late")
    workplace.folder("sub")
    here = workplace.location.replace(" ", "\\ ")
    assert offered("%svc_folders move Common C", "Common") == {"Common"}
    assert offered("%svc_folders list Users/adm", "Users/admin@localhost") == {"Users/admin@localhost"}
    assert here in offered("%svc_notes list Common/pl", here)
    assert here in offered("%svc_notes import a.zpln --to Common/pl", here)


def test_notes_and_folders_as_the_magic_needs_them(offered, workplace, at_work):
    name = workplace.name.replace(" ", "-")
    workplace.folder(name, parent="Common")
    try:
        workplace.post("/notebooks", {"name": "late", "location": f"Common/{name}"})
        workplace.folder("sub", parent=f"Common/{name}")
        here = f"Common/{name}"
        assert offered(f"%svc_notes show {here}/", f"{here}/late") == {f"{here}/late", f"{here}/sub"}
        assert offered(f"%svc_folders delete {here}/", f"{here}/sub") == {f"{here}/sub"}
        assert offered(f"%svc_policy show note {here}/l", f"{here}/late") == {f"{here}/late"}
        assert offered(f"%svc_policy show folder {here}/", f"{here}/sub") == {f"{here}/sub"}
    finally:
        at_work.value(f"%svc_folders delete Common/{name} --yes")


def test_users_and_groups(offered, workplace):
    ann = workplace.colleague()
    assert offered(f"%svc_policy show note 7 --for {ann[:12]}", ann) >= {ann}
    assert offered("%svc_policy deny note 7 --user adm", "admin@localhost") == {"admin@localhost"}
    assert offered("%svc_policy deny note 7 --group=system-a", "--group=system-admin") == {"--group=system-admin"}
