from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage import archives
from svc_jupyter.service.storage.archives import check_archive_name
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.room import Room, Stopped

CONTENT = {"a.txt": b"first\n", "deep/er/b.bin": bytes(range(256)) * 5000, "empty": b"", "deep/\u00e9\u4e2d.txt": b"x"}


def make_archive(path: Path, files: dict[str, bytes]) -> Path:
    """Write an archive by the program library that also others use, in the form that its name says."""
    if path.suffix in (".zip", ".jar"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path
    mode = "w" if path.suffix == ".tar" else "w:gz"
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def tree_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_each_form_is_unpacked_into_a_folder_of_its_full_name(tmp_path, unpack):
    names = ["data.zip", "data.jar", "data.tar", "data.tar.gz", "data.tgz", "DATA.ZIP", "a.b.TAR.GZ"]
    folders = {name: unpack(make_archive(tmp_path / name.lower(), CONTENT).rename(tmp_path / name)) for name in names}
    assert {name: folder.name for name, folder in folders.items()} == {name: name for name in names}
    assert [name for name, folder in folders.items() if tree_of(folder) != CONTENT] == []


def test_other_files_are_no_archives():
    def refusal(name: str) -> str:
        with pytest.raises(Invalid) as refused:
            check_archive_name(name)
        return refused.value.message

    others = ["data.rar", "data", "zip", "data.gz", "data.tar.bz2", "data.zip.txt"]
    known = "known are .zip, .jar, .tar, .tar.gz, .tgz"
    assert [refusal(name) for name in others] == [
        f"{name} is not an archive that can be unpacked; {known}" for name in others
    ]


def test_a_tar_that_a_web_server_has_already_decompressed_is_unpacked(tmp_path, unpack):
    plain = make_archive(tmp_path / "data.tar", CONTENT)
    assert tree_of(unpack(plain.rename(tmp_path / "data.tar.gz"))) == CONTENT


def test_empty_archives_make_empty_folders(tmp_path, unpack):
    assert tree_of(unpack(make_archive(tmp_path / "a.zip", {}))) == {}
    assert tree_of(unpack(make_archive(tmp_path / "a.tar.gz", {}))) == {}


def test_empty_folders_and_dotted_names_are_kept(tmp_path, unpack):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("./", "./empty/", "./empty/below"):
            folder = tarfile.TarInfo(name)
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("empty")
        archive.mkdir("empty/below")
    for name in ("a.tar", "a.zip"):
        assert (unpack(tmp_path / name) / "empty" / "below").is_dir()


@pytest.mark.parametrize("name", ["a.tar", "a.zip"])
def test_programs_stay_executable_and_lose_special_rights(tmp_path, unpack, name):
    modes = {"plain": 0o644, "tool": 0o755, "setuid": 0o6777, "closed": 0o000}
    if name == "a.tar":
        with tarfile.open(tmp_path / name, "w") as archive:
            for member_name, mode in modes.items():
                member = tarfile.TarInfo(member_name)
                member.mode = mode
                archive.addfile(member, io.BytesIO())
    else:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member_name, mode in modes.items():
                info = zipfile.ZipInfo(member_name)
                info.create_system, info.external_attr = 3, (stat.S_IFREG | mode) << 16
                archive.writestr(info, b"")
    folder = unpack(tmp_path / name)
    kept = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert kept == {"plain": 0o644, "tool": 0o755, "setuid": 0o755, "closed": 0o644}


def test_links_that_stay_inside_work(tmp_path, unpack):
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("lib/v2/x.txt")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"two"))
        for name, target, kind in [
            ("lib/current", "v2", tarfile.SYMTYPE),
            ("x.txt", "lib/current/x.txt", tarfile.SYMTYPE),
            ("bin/deep/x.txt", "../../lib/v2/x.txt", tarfile.SYMTYPE),
            ("same.txt", "lib/v2/x.txt", tarfile.LNKTYPE),
        ]:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, target
            archive.addfile(link)
    folder = unpack(tmp_path / "a.tgz")
    for name in ("lib/current/x.txt", "x.txt", "bin/deep/x.txt", "same.txt"):
        assert (folder / name).read_bytes() == b"two"
        assert (folder / name).resolve().is_relative_to(folder.resolve())
    assert (folder / "same.txt").stat().st_ino == (folder / "lib/v2/x.txt").stat().st_ino


def test_a_later_member_replaces_an_earlier_one_of_its_name(tmp_path, unpack):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for content in (b"first", b"second"):
            member = tarfile.TarInfo("x")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("y")
        link.type, link.linkname = tarfile.SYMTYPE, "x"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("y"), io.BytesIO())
    folder = unpack(tmp_path / "a.tar")
    assert (folder / "x").read_bytes() == b"second"
    assert not (folder / "y").is_symlink()


def test_names_in_other_encodings_are_unpacked(tmp_path, unpack):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("utf8-\u00e9.txt", "windows\\dir\\x.txt"):
            info = zipfile.ZipInfo("placeholder")
            info.filename = info.orig_filename = name
            info.create_system = 0
            archive.writestr(info, b"x")
    data = (tmp_path / "a.zip").read_bytes()
    flagged = (0x800).to_bytes(2, "little")
    unflagged = data.replace(b"PK\x03\x04\x14\x00" + flagged, b"PK\x03\x04\x14\x00\0\0")
    unflagged = unflagged.replace(b"PK\x01\x02\x14\x00\x14\x00" + flagged, b"PK\x01\x02\x14\x00\x14\x00\0\0")
    assert unflagged != data
    (tmp_path / "a.zip").write_bytes(unflagged)
    assert set(tree_of(unpack(tmp_path / "a.zip"))) == {"utf8-\u00e9.txt", "windows/dir/x.txt"}

    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        archive.addfile(tarfile.TarInfo("latin-\u00e9"), io.BytesIO())
    assert os.listdir(os.fsencode(unpack(tmp_path / "a.tar"))) == [b"latin-\xe9"]


def test_sparse_files_and_long_names_are_unpacked(tmp_path, unpack):
    long_name = "/".join(["d" * 60] * 5) + "/" + "f" * 200
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(tmp_path / "a.tar", "w", format=form) as archive:
            member = tarfile.TarInfo(long_name)
            member.size = 4
            archive.addfile(member, io.BytesIO(b"long"))
        folder = unpack(tmp_path / "a.tar")
        assert tree_of(folder) == {long_name: b"long"}
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_work_that_is_given_up_leaves_nothing(tmp_path, name):
    archive = make_archive(tmp_path / name, CONTENT)
    room = Room(tmp_path, what=name, max_bytes=10**9, min_free_bytes=0, max_entries=100)
    room.stop.set()
    with pytest.raises(Stopped):
        archives.unpack(archive, tmp_path / "folder", room)
    assert not (tmp_path / "folder").exists()


def test_a_disk_without_room_is_reported_and_left_as_it_was(tmp_path):
    archive = make_archive(tmp_path / "a.zip", CONTENT)
    room = Room(tmp_path, what="a.zip", max_bytes=10**9, min_free_bytes=2**60, max_entries=100)
    with pytest.raises(StorageFailure, match="does not fit on the service's disk") as failure:
        archives.unpack(archive, tmp_path / "folder", room)
    assert failure.value.may_retry
    assert not (tmp_path / "folder").exists()


_NAMES = st.lists(
    st.sampled_from(["..", ".", "", "a", "b", "c\\d", "\u00e9", "a" * 300, "~", "-rf", "\n"]), min_size=1, max_size=5
).map("/".join)
_MEMBERS = st.lists(
    st.tuples(_NAMES, st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE]), _NAMES),
    max_size=8,
)


def snapshot(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def is_circular(path: Path) -> bool:
    """Whether a link leads to itself, so nowhere; `realpath` then says anything."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


@given(_MEMBERS)
def test_whatever_is_in_a_tar_nothing_leaves_its_folder(members):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "a" / "b").mkdir(parents=True)
        (root / "a" / "b" / "x").write_text("kept")
        work = root / "a" / "work"
        work.mkdir()
        with tarfile.open(root / "t.tar", "w", format=tarfile.GNU_FORMAT) as archive:
            for member_name, kind, target in members:
                member = tarfile.TarInfo(member_name)
                member.type, member.linkname = kind, target
                archive.addfile(member, io.BytesIO())
        before = snapshot(root)
        room = Room(work, what="t.tar", max_bytes=10**6, min_free_bytes=0, max_entries=100)
        try:
            archives.unpack(root / "t.tar", work / "t.tar", room)
        except StorageFailure:
            assert snapshot(root) == before
            return
        folder = (work / "t.tar").resolve()
        outside = [path for path in snapshot(root) if not path.startswith("a/work/t.tar")]
        assert outside == before
        for path in folder.rglob("*"):
            assert is_circular(path) or Path(os.path.realpath(path)).is_relative_to(folder)


@given(st.lists(st.tuples(_NAMES, st.binary(max_size=20)), max_size=6, unique_by=lambda member: member[0]))
def test_whatever_is_in_a_zip_nothing_leaves_its_folder(members):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        work = root / "work"
        work.mkdir()
        with zipfile.ZipFile(root / "t.zip", "w") as archive:
            for number, (member_name, content) in enumerate(members):
                info = zipfile.ZipInfo("placeholder")
                info.filename = info.orig_filename = member_name or f"{number}"
                info.create_system = 3
                info.external_attr = (stat.S_IFLNK if number % 2 else stat.S_IFREG) << 16
                archive.writestr(info, member_name if number % 2 else content)
        before = snapshot(root)
        room = Room(work, what="t.zip", max_bytes=10**6, min_free_bytes=0, max_entries=100)
        try:
            archives.unpack(root / "t.zip", work / "t.zip", room)
        except StorageFailure:
            assert snapshot(root) == before
            return
        folder = (work / "t.zip").resolve()
        assert [path for path in snapshot(root) if not path.startswith("work/t.zip")] == before
        for path in folder.rglob("*"):
            assert is_circular(path) or Path(os.path.realpath(path)).is_relative_to(folder)


@given(st.binary(max_size=3000), st.sampled_from(["t.zip", "t.tar", "t.tar.gz"]), st.booleans())
def test_noise_is_no_archive_and_leaves_nothing(noise, name, compressed):
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / name
        archive.write_bytes(gzip.compress(noise) if compressed else noise)
        room = Room(Path(folder), what=name, max_bytes=10**6, min_free_bytes=0, max_entries=100)
        if not noise.strip(b"\0"):
            return  # zeros are the end of a tar: an empty one
        with pytest.raises(StorageFailure, match=re.escape(name)):
            archives.unpack(archive, Path(folder) / "out", room)
        assert not (Path(folder) / "out").exists()


@given(st.data())
def test_an_archive_that_is_cut_off_is_never_taken_for_whole(data):
    name = data.draw(st.sampled_from(["t.zip", "t.tar.gz", "t.tar"]))
    with tempfile.TemporaryDirectory() as folder:
        files = {"one": b"1" * 700, "two": b"2" * 2000}
        whole = make_archive(Path(folder) / name, files).read_bytes()
        end_of_members = len(whole) - 1 if name != "t.tar" else 512 + 1024 + 512 + 2000
        cut = data.draw(st.integers(1, end_of_members))
        if name == "t.tar" and cut == 512 + 1024:
            return  # between two members: a tar needs no end mark, so nothing tells that this is not the end
        (Path(folder) / name).write_bytes(whole[:cut])
        room = Room(Path(folder), what=name, max_bytes=10**6, min_free_bytes=0, max_entries=100)
        with pytest.raises(StorageFailure):
            archives.unpack(Path(folder) / name, Path(folder) / "out", room)
        assert not (Path(folder) / "out").exists()
