from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from svc_jupyter.service.workspace.file_tree import FileTree, TooLargeError

LIMIT = 1 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tree's folder as everybody else sees it."""
    return tmp_path / "tree"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the tree, whose file nobody may reach through it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("keep me")
    return outside


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Let the system refuse to write more, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def left_over(folder: Path) -> list[Path]:
    drafts = folder / ".drafts"
    return list(drafts.iterdir()) if drafts.exists() else []


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tree: FileTree, folder: Path):
    tree.save(("a.ipynb",), b"old")
    with files_no_larger_than(4096), pytest.raises(OSError, match="File too large"):
        tree.save(("a.ipynb",), b"new" * 4096)
    assert tree.read(("a.ipynb",), LIMIT)[0] == b"old"
    with files_no_larger_than(4096), pytest.raises(OSError, match="File too large"):
        tree.create((), ["b.ipynb"], b"new" * 4096)
    assert sorted(tree.entries(())) == [".drafts", ".lock", "a.ipynb"]
    assert left_over(folder) == []


def test_a_reader_meets_the_old_or_the_new_whole(tree: FileTree):
    versions = [letter * 300_000 for letter in (b"a", b"b")]
    tree.save(("f",), versions[0])
    stop = threading.Event()

    def write() -> None:
        for number in count():
            if stop.is_set():
                return
            tree.save(("f",), versions[number % 2])

    with ThreadPoolExecutor() as pool:
        writers = [pool.submit(write) for _ in range(2)]
        try:
            seen = {tree.read(("f",), LIMIT)[0] for _ in range(50)}
        finally:
            stop.set()
        for writer in writers:
            writer.result()
    assert seen <= set(versions)


def test_of_those_who_want_the_same_name_each_gets_another(tree: FileTree):
    def make(number: int) -> str:
        names = (f"Untitled{index or ''}.ipynb" for index in count())
        return FileTree(tree._folder).create((), names, str(number).encode())

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(make, range(24)))
    assert len(set(names)) == 24
    assert {tree.read((name,), LIMIT)[0] for name in names} == {str(number).encode() for number in range(24)}


def test_a_link_is_never_followed(tree: FileTree, folder: Path, outside: Path):
    (folder / "inner").mkdir()
    (folder / "inner" / "f").write_text("inner")
    calls: dict[str, Callable[[], object]] = {
        "status": lambda: tree.status(("link",)),
        "read": lambda: tree.read(("link",), LIMIT),
        "read inside": lambda: tree.read(("link", "secret"), LIMIT),
        "entries": lambda: tree.entries(("link",)),
        "save inside": lambda: tree.save(("link", "secret"), b"x"),
        "save": lambda: tree.save(("link",), b"x"),
        "create inside": lambda: tree.create(("link",), ["new"], None),
        "create": lambda: tree.create((), ["link"], b"x"),
        "move": lambda: tree.move(("link",), ("moved",)),
        "move inside": lambda: tree.move(("link", "secret"), ("moved",)),
        "move to": lambda: tree.move(("inner",), ("link",)),
        "delete": lambda: tree.delete(("link",)),
        "delete inside": lambda: tree.delete(("link", "secret")),
        "copy": lambda: tree.copy(("link",), (), ["copied"], LIMIT),
    }

    def followed(link_to: str) -> list[str]:
        (folder / "link").symlink_to(link_to)
        found = [name for name, call in calls.items() if not is_refused(call)]
        if "link" in tree.entries(()):
            found.append("entries above")
        (folder / "link").unlink()
        return found

    targets = ("..", "../outside", "../outside/secret", "inner", "nowhere", "link")
    assert {link_to: followed(link_to) for link_to in targets} == {link_to: [] for link_to in targets}
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "keep me"
    assert left_over(folder) == []


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except (FileNotFoundError, NotADirectoryError, FileExistsError):
        return True
    return False


def test_a_root_that_was_replaced_by_a_link_leads_nowhere(tree: FileTree, folder: Path, outside: Path):
    (folder / "root").symlink_to(outside)
    tree.ensure_folder(("root",))
    with pytest.raises(NotADirectoryError):
        tree.read(("root", "secret"), LIMIT)
    with pytest.raises(NotADirectoryError):
        tree.save(("root", "new"), b"x")


def test_a_pipe_neither_holds_a_reader_nor_is_there(tree: FileTree, folder: Path):
    os.mkfifo(folder / "pipe")
    assert "pipe" not in tree.entries(())
    with pytest.raises(FileNotFoundError):
        tree.read(("pipe",), LIMIT)
    with pytest.raises(FileExistsError):
        tree.save(("pipe",), b"x")


def test_the_deletion_of_a_folder_keeps_the_targets_of_its_links(tree: FileTree, folder: Path, outside: Path):
    tree.create((), ["work"], None)
    tree.save(("work", "f"), b"x")
    (folder / "work" / "link").symlink_to(outside)
    (folder / "work" / "also").symlink_to(outside / "secret")
    tree.delete(("work",))
    assert "work" not in tree.entries(())
    assert (outside / "secret").read_text() == "keep me"
    assert left_over(folder) == []


def test_a_copy_has_the_files_and_neither_links_nor_what_is_hidden(tree: FileTree, folder: Path, outside: Path):
    (folder / "work" / "deep").mkdir(parents=True)
    (folder / "work" / "deep" / "f").write_bytes(b"x" * 10)
    (folder / "work" / ".hidden").write_text("h")
    (folder / "work" / "link").symlink_to(outside)
    assert tree.copy(("work",), (), ["work", "work-Copy1"], LIMIT) == "work-Copy1"
    assert sorted(path.name for path in (folder / "work-Copy1").rglob("*")) == ["deep", "f"]
    with pytest.raises(TooLargeError):
        tree.copy(("work",), (), ["again"], 9)
    assert "again" not in tree.entries(())
    assert left_over(folder) == []


def test_a_folder_deeper_than_any_program_goes_is_not_copied_but_deleted(tree: FileTree, folder: Path):
    level = os.open(folder, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=level)
        below = os.open("d", os.O_RDONLY, dir_fd=level)
        os.close(level)
        level = below
    os.close(level)
    with pytest.raises(OSError, match="deeper than"):
        tree.copy(("d",), (), ["copied"], LIMIT)
    tree.delete(("d",))
    assert "d" not in tree.entries(())
    assert left_over(folder) == []


def test_nothing_is_moved_onto_what_is_there(tree: FileTree):
    for name in ("a", "b"):
        tree.save((name,), name.encode())
    tree.create((), ["empty"], None)
    for target in ("b", "empty"):
        with pytest.raises(FileExistsError):
            tree.move(("a",), (target,))
    tree.move(("a",), ("empty", "c"))
    assert tree.read(("empty", "c"), LIMIT)[0] == b"a"
    assert tree.read(("b",), LIMIT)[0] == b"b"


def test_a_file_keeps_its_mode_and_a_read_only_one_its_bytes(tree: FileTree, folder: Path):
    tree.save(("run.sh",), b"old")
    (folder / "run.sh").chmod(0o750)
    tree.save(("run.sh",), b"new")
    assert (folder / "run.sh").stat().st_mode & 0o777 == 0o750
    (folder / "run.sh").chmod(0o440)
    with pytest.raises(PermissionError):
        tree.save(("run.sh",), b"newer")
    assert (folder / "run.sh").read_bytes() == b"new"


def test_a_file_that_must_be_there_is_not_made(tree: FileTree):
    with pytest.raises(FileNotFoundError):
        tree.save(("gone",), b"x", must_exist=True)
    tree.save(("gone",), b"x")
    tree.save(("gone",), b"y", must_exist=True)
    assert tree.read(("gone",), LIMIT)[0] == b"y"


def test_more_than_the_limit_is_not_read(tree: FileTree):
    tree.save(("f",), b"x" * 11)
    with pytest.raises(TooLargeError) as raised:
        tree.read(("f",), 10)
    assert raised.value.size == 11


def test_files_left_by_a_killed_process_are_removed_once_they_are_old(tree: FileTree, folder: Path):
    tree.sweep(before=0)
    tree.save(("f",), b"x")
    (folder / ".drafts" / "half").write_bytes(b"half")
    (folder / ".drafts" / "gone").mkdir()
    (folder / ".drafts" / "gone" / "f").write_bytes(b"x")
    changed = (folder / ".drafts" / "half").stat().st_ctime
    tree.sweep(before=changed - 1)
    assert len(left_over(folder)) == 2
    tree.sweep(before=changed + 60)
    assert left_over(folder) == []
    assert tree.read(("f",), LIMIT)[0] == b"x"
