from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile

import pytest
from tests.support.memory import Peak

from svc_jupyter.service.storage.failures import StorageFailure


def tar_of(path, *members: tuple[str, bytes, str]):
    """Write a tar of members (name, type, link target)."""
    with tarfile.open(path, "w") as archive:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member, io.BytesIO())
    return path


def refusal(unpack, archive, **limits) -> str:
    with pytest.raises(StorageFailure) as failure:
        unpack(archive, **limits)
    assert not (archive.parent / "work" / archive.name).exists()
    assert archive.name in failure.value.message
    return failure.value.message


FILE, FOLDER, LINK, HARD = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
SPECIAL = "is neither a file, a folder nor a link"
TARS = {
    (("../outside", FILE, ""),): "'../outside' leads out of its folder",
    (("a/../../outside", FILE, ""),): "'a/../../outside' leads out of its folder",
    (("/outside", FILE, ""),): "'/outside' is an absolute path",
    (("../outside", FOLDER, ""),): "'../outside' leads out of its folder",
    (("up", LINK, ".."),): "'up' is a link that may lead out of its folder, to '..'",
    (("up", LINK, "/etc"),): "'up' is a link that may lead out of its folder, to '/etc'",
    (("a/up", LINK, "../.."),): "'a/up' is a link that may lead out of its folder, to '../..'",
    (("up", LINK, "a/../.."),): "'up' is a link that may lead out of its folder, to 'a/../..'",
    (("a/b/up", LINK, "../.."), ("a/b/x", LINK, "up/../outside")): (
        "'a/b/x' is a link that may lead out of its folder, to 'up/../outside'"
    ),
    (("d", LINK, "e"), ("d/x", FILE, "")): "'d/x' is under 'd', which is not a folder",
    (("d/x", FILE, ""), ("d", LINK, "e")): "'d' is a file in the place of a folder",
    (("x", HARD, "../../data/secret"),): "'../../data/secret' leads out of its folder",
    (("x", HARD, "/etc/passwd"),): "'/etc/passwd' is an absolute path",
    (("s", LINK, "t"), ("x", HARD, "s")): "'x' is a link to 's', which is not a file before it in the archive",
    (("x", HARD, "later"),): "'x' is a link to 'later', which is not a file before it in the archive",
    (("null", tarfile.CHRTYPE, ""),): f"'null' {SPECIAL}",
    (("disk", tarfile.BLKTYPE, ""),): f"'disk' {SPECIAL}",
    (("pipe", tarfile.FIFOTYPE, ""),): f"'pipe' {SPECIAL}",
    ((".", FILE, ""),): "'.' is a file in the place of a folder",
    (("f", FILE, ""), ("f/x", FILE, "")): "'f/x' is under 'f', which is not a folder",
    (("a" * 300, FILE, ""),): "File name too long",
    (("d/" * 101 + "x", FILE, ""),): f"'{'d/' * 60}…' is more than 100 folders deep",
}


def test_a_tar_whose_paths_lead_elsewhere_is_refused(tmp_path, unpack):
    good = ("good.txt", FILE, "")
    refusals = {members: refusal(unpack, tar_of(tmp_path / "bad.tar", good, *members)) for members in TARS}
    assert refusals == {members: f"bad.tar cannot be unpacked: {reason}" for members, reason in TARS.items()}


def test_an_earlier_file_is_not_written_through_a_hard_link(tmp_path, unpack):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, content in (("one", b"1"), ("two", b""), ("two", b"2")):
            member = tarfile.TarInfo(name)
            if not content:
                member.type, member.linkname = tarfile.LNKTYPE, "one"
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    folder = unpack(tmp_path / "a.tar")
    assert ((folder / "one").read_bytes(), (folder / "two").read_bytes()) == (b"1", b"2")


ZIPS = {
    ("../outside", 0o644, b"x"): "'../outside' leads out of its folder",
    ("/outside", 0o644, b"x"): "'/outside' is an absolute path",
    ("a/../../outside", 0o644, b"x"): "'a/../../outside' leads out of its folder",
    ("up", stat.S_IFLNK, b"../.."): "'up' is a link that may lead out of its folder, to '../..'",
    ("up", stat.S_IFLNK, b"/etc"): "'up' is a link that may lead out of its folder, to '/etc'",
    ("up", stat.S_IFLNK, b"x" * 5000): "'up' is a link with too long a target",
    ("pipe", stat.S_IFIFO, b""): f"'pipe' {SPECIAL}",
}


def zip_of(path, name: str, mode: int, content: bytes):
    """Write a zip of a harmless file and of one member."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.txt", b"good")
        info = zipfile.ZipInfo("placeholder")
        info.filename = info.orig_filename = name
        info.create_system, info.external_attr = 3, mode << 16
        archive.writestr(info, content)
    return path


def test_a_zip_whose_paths_lead_elsewhere_is_refused(tmp_path, unpack):
    refusals = {member: refusal(unpack, zip_of(tmp_path / "bad.zip", *member)) for member in ZIPS}
    assert refusals == {member: f"bad.zip cannot be unpacked: {reason}" for member, reason in ZIPS.items()}


def test_windows_paths_are_held_to_the_same_rules(tmp_path, unpack):
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        info = zipfile.ZipInfo("placeholder")
        info.filename = info.orig_filename = "..\\..\\outside"
        info.create_system = 0
        archive.writestr(info, b"x")
    assert "leads out" in refusal(unpack, tmp_path / "bad.zip")


def test_an_encrypted_zip_is_reported_as_such(tmp_path, unpack):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x", b"secret")
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    assert "is encrypted" in refusal(unpack, tmp_path / "a.zip")


def zeros_tar_gz(path, size: int):
    """Write a gzipped tar of one file of zeros."""
    with gzip.open(path, "wb", compresslevel=9) as out:
        member = tarfile.TarInfo("zeros")
        member.size = size
        out.write(member.tobuf())
        for _ in range(0, size, 1 << 20):
            out.write(bytes(1 << 20))
        out.write(bytes(1024))
    return path


def test_bombs_stop_at_the_limit_of_bytes(tmp_path, unpack):
    archive = zeros_tar_gz(tmp_path / "bomb.tar.gz", 64 << 20)
    assert archive.stat().st_size < 100_000
    assert "larger than 10.0 MB" in refusal(unpack, archive)

    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        for number in range(8):
            bomb.writestr(f"zeros{number}", bytes(2 << 20))
    assert "larger than 10.0 MB" in refusal(unpack, tmp_path / "bomb.zip")


def test_a_zip_that_lies_about_its_sizes_stops_at_the_limit_too(tmp_path, unpack):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("zeros", bytes(32 << 20))
    data = bytearray((tmp_path / "bomb.zip").read_bytes())
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = (100).to_bytes(4, "little")
    (tmp_path / "bomb.zip").write_bytes(data)
    refusal(unpack, tmp_path / "bomb.zip")


def test_sparse_holes_count_as_what_they_become(tmp_path, unpack):
    member = tarfile.TarInfo("holes")
    member.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.name": "holes"}
    member.pax_headers |= {
        "GNU.sparse.size": str(1 << 40),
        "GNU.sparse.map": f"{(1 << 40) - 1},1",
        "GNU.sparse.numblocks": "1",
    }
    member.size = 1
    with tarfile.open(tmp_path / "bomb.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(b"x"))
    assert "larger than" in refusal(unpack, tmp_path / "bomb.tar")


def test_data_that_is_only_skipped_is_bounded(tmp_path, unpack):
    """A folder that says it has content: a reader skips it, and unpacks all of it on the way."""
    member = tarfile.TarInfo("folder")
    member.type, member.size = b"Z", 256 << 20
    with gzip.open(tmp_path / "bomb.tgz", "wb") as out:
        out.write(member.tobuf())
        for _ in range(256):
            out.write(bytes(1 << 20))
    refusal(unpack, tmp_path / "bomb.tgz", max_bytes=1 << 20, max_entries=10)
    member.type = tarfile.XGLTYPE
    with gzip.open(tmp_path / "bomb.tgz", "wb") as out:
        out.write(member.tobuf())
        for _ in range(256):
            out.write(bytes(1 << 20))
    peak = Peak()
    assert "larger inside" in refusal(unpack, tmp_path / "bomb.tgz")
    assert peak.growth < 64_000_000  # the header is 256 MB


def test_too_many_files_are_refused(tmp_path, unpack):
    with tarfile.open(tmp_path / "many.tar", "w") as archive:
        for number in range(50):
            archive.addfile(tarfile.TarInfo(f"d{number}/x"), io.BytesIO())
    assert "more than 60 files and folders" in refusal(unpack, tmp_path / "many.tar", max_entries=60)
    assert len(os.listdir(unpack(tmp_path / "many.tar", max_entries=100))) == 50

    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(50):
            archive.writestr(f"{number}", b"")
    assert "more than 20 files and folders" in refusal(unpack, tmp_path / "many.zip", max_entries=20)


def test_a_zip_directory_larger_than_its_limit_is_not_read(tmp_path, unpack):
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number:0100d}", b"")
    assert "larger inside" in refusal(unpack, tmp_path / "many.zip", max_entries=10)
