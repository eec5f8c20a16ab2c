from __future__ import annotations

import pytest

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage.account_storage import resolve_under


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    (tmp_path / "outside").write_text("not for you")
    return folder


def test_a_file_under_a_root_is_found(root):
    (root / "a.sh").write_text("echo")
    assert resolve_under(root / "a.sh", [root]) == (root / "a.sh").resolve()


def test_a_path_that_does_not_exist_yet_is_accepted_under_a_root(root):
    assert resolve_under(root / "later" / "a.sh", [root]) == root.resolve() / "later" / "a.sh"


def test_a_root_may_be_a_link_itself(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    (root / "a.sh").write_text("echo")
    assert resolve_under(tmp_path / "link" / "a.sh", [tmp_path / "link"]) == (root / "a.sh").resolve()


def test_a_link_that_stays_inside_is_followed(root):
    (root / "a.sh").write_text("echo")
    (root / "latest.sh").symlink_to("a.sh")
    assert resolve_under(root / "latest.sh", [root]) == (root / "a.sh").resolve()


def test_nothing_outside_the_roots_is_reached(root, tmp_path):
    (root / "file_link").symlink_to(tmp_path / "outside")
    (root / "folder_link").symlink_to(tmp_path)
    (tmp_path / "root2").mkdir()

    def refusal(path: str) -> str:
        with pytest.raises(Invalid) as refused:
            resolve_under(root / path, [root])
        return refused.value.message

    refusals = {
        path: refusal(path)
        for path in ("../outside", "a/../../outside", "file_link", "folder_link/outside", "../root2/a")
    }
    assert {path: told for path, told in refusals.items() if "outside the folders" not in told} == {}


def test_without_roots_nothing_is_allowed(root):
    with pytest.raises(Invalid, match="file_roots"):
        resolve_under(root, [])


def test_a_loop_of_links_leads_nowhere_outside(root):
    (root / "a").symlink_to(root / "b")
    (root / "b").symlink_to(root / "a")
    try:
        resolved = resolve_under(root / "a" / "x", [root])
    except Invalid:  # Python before 3.13 sees the loop here, later ones when the file is opened
        return
    assert resolved.is_relative_to(root.resolve())
    assert not resolved.exists()
