"""Files on their way to a host."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path, PurePosixPath

from svc_jupyter.service.clusters.providers.hosts_machine import FileSets, archive, archive_of


def _jars(folder: Path) -> list[Path]:
    files = [folder / "lib" / "b.jar", folder / "lib" / "a.jar", folder / "more" / ("long" * 40 + ".jar")]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes([number]) * (600_000 + number))
    return files


async def test_a_set_is_known_by_what_its_files_hold_not_by_where_they_lie(tmp_path: Path):
    sets = FileSets()
    here, there = _jars(tmp_path / "here"), _jars(tmp_path / "there")
    assert sets.of("hadoop", here).folder == sets.of("hadoop", there).folder
    assert sets.of("hadoop", here).folder != sets.of("pig", here).folder
    before = sets.of("hadoop", there).folder
    there[0].write_bytes(b"other")
    assert sets.of("hadoop", there).folder != before
    assert sets.of("hadoop", here).places[:2] == [PurePosixPath("0/b.jar"), PurePosixPath("0/a.jar")]
    assert sets.of("hadoop", here).places[2].parent == PurePosixPath("1")


async def test_archives_are_whole_and_for_their_owner_alone(tmp_path: Path):
    files = _jars(tmp_path)
    file_set = FileSets().of("hadoop", files)
    content = b"".join([chunk async for chunk in archive_of(file_set)])
    with tarfile.open(fileobj=io.BytesIO(content)) as opened:
        assert [PurePosixPath(name) for name in opened.getnames()] == file_set.places
        assert opened.extractfile(opened.getnames()[1]).read() == files[1].read_bytes()

    content = b"".join([chunk async for chunk in archive({"conf/a.xml": b"<a/>", "empty": b""})])
    with tarfile.open(fileobj=io.BytesIO(content)) as opened:
        assert {member.name: (member.size, member.mode) for member in opened} == {
            "conf/a.xml": (4, 0o600),
            "empty": (0, 0o600),
        }
