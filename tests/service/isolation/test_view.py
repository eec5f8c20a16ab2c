"""The mounts of a sandbox: what covers what."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_jupyter.service.isolation.view import View


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    data_dir = tmp_path / "shared" / "team" / "data"
    (data_dir / "storage").mkdir(parents=True)
    (data_dir / "work").mkdir()
    return data_dir


def mounts(view: View) -> list[tuple[str, ...]]:
    """Return the mounts of a command, each with its paths, without those of the system."""
    words = view.mounts(temporary=view.data_dir / "tmp", working=view.data_dir / "work")
    words = words[words.index("/dev", words.index("--dev")) + 1 :]
    starts = [place for place, word in enumerate(words) if word.startswith("--")]
    return [tuple(words[start:end]) for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]


def bind(folder: Path, how: str = "--bind") -> tuple[str, ...]:
    return how, str(folder), str(folder)


def test_of_the_data_folder_only_the_storage_and_the_commands_own_folder_are_shown(data_dir: Path):
    assert mounts(View(data_dir, data_dir / "storage")) == [
        ("--bind", str(data_dir / "tmp"), "/tmp"),
        ("--tmpfs", str(data_dir)),
        bind(data_dir / "storage"),
        bind(data_dir / "work"),
        ("--remount-ro", str(data_dir)),
        ("--remount-ro", "/"),
        ("--chdir", str(data_dir / "work")),
    ]


def test_the_data_folder_is_hidden_in_a_shown_folder_and_cannot_be_moved_out_of_the_way(data_dir: Path, tmp_path: Path):
    shared = tmp_path / "shared"
    view = View(data_dir, data_dir / "storage", writable=[shared])
    assert mounts(view)[1:4] == [bind(shared), bind(shared / "team"), ("--tmpfs", str(data_dir))]
    assert ("--remount-ro", str(data_dir)) in mounts(view)


def test_programs_stay_read_only_and_do_not_show_the_data_folder(data_dir: Path, tmp_path: Path):
    shared, outer, inner = tmp_path / "shared", tmp_path / "shared" / "team", data_dir / "engines"
    inner.mkdir()
    view = View(data_dir, data_dir / "storage", writable=[shared], programs=[outer, inner])
    assert mounts(view)[1:4] == [bind(shared), bind(outer, "--ro-bind"), ("--tmpfs", str(data_dir))]
    view = View(data_dir, data_dir / "storage", programs=[inner])
    assert bind(inner, "--ro-bind") in mounts(view)


def test_the_data_folder_is_hidden_also_behind_a_link(data_dir: Path, tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "shared")
    assert ("--tmpfs", str(link / "team" / "data")) in mounts(View(data_dir, data_dir / "storage", readable=[link]))


def test_no_folder_inside_the_data_folder_or_a_writable_one_is_mounted_by_a_setting(data_dir: Path, tmp_path: Path):
    inner = tmp_path / "shared" / "inner"
    inner.mkdir()
    view = View(
        data_dir, data_dir / "storage", writable=[tmp_path / "shared", inner, data_dir], readable=[data_dir, inner]
    )
    assert {bind(inner), bind(data_dir), bind(inner, "--ro-bind"), bind(data_dir, "--ro-bind")}.isdisjoint(mounts(view))
