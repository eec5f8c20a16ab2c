from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.service.installs.conftest import Repository

from svc_jupyter.service.installs.failures import WrongChecksum
from svc_jupyter.service.installs.lock import parse
from svc_jupyter.service.installs.relock import main, relocked

POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>org.example</groupId><artifactId>{name}</artifactId><version>1.0</version><dependencies>{needs}</dependencies>
</project>"""
NEED = """<dependency><groupId>org.example</groupId><artifactId>{name}</artifactId><version>1.0</version>
<scope>{scope}</scope></dependency>"""


def publish(repository: Repository, name: str, needs: dict[str, str] | None = None) -> str:
    """Put an artifact with its POM and checksums into the repository; return its line in a lock."""
    place = f"org/example/{name}/1.0/{name}-1.0"
    line = repository.add(f"{place}.jar", sum(name.encode()), kilobytes=1)
    inside = "".join(NEED.format(name=need, scope=scope) for need, scope in (needs or {}).items())
    repository.files[f"{place}.pom"] = POM.format(name=name, needs=inside).encode()
    for suffix in ("jar", "pom"):
        content = repository.files[f"{place}.{suffix}"]
        repository.files[f"{place}.{suffix}.sha1"] = hashlib.sha1(content).hexdigest().encode()
    return line


@pytest.fixture
def published(repository: Repository) -> dict[str, str]:
    """An engine that needs a library, which needs another, and a tool for its tests."""
    lines = {name: publish(repository, name) for name in ("deep", "tool", "alone")}
    lines["library"] = publish(repository, "library", {"deep": "runtime", "tool": "test"})
    lines["engine"] = publish(repository, "engine", {"library": "compile"})
    return lines


def test_roots_are_resolved_with_all_that_they_need_and_sorted(repository: Repository, published: dict[str, str]):
    text = relocked("# why\nroot org.example:engine:1.0\n", repository.address)
    expected = ["# why", "root org.example:engine:1.0", *(published[name] for name in ("deep", "engine", "library"))]
    assert text.splitlines() == expected
    assert relocked(text, repository.address) == text


def test_a_dependency_excluded_by_without_is_left_out(repository: Repository, published: dict[str, str]):
    text = "root org.example:engine:1.0\nwithout org.example:deep\n"
    assert published["deep"] not in relocked(text, repository.address)


def test_without_roots_paths_keep_their_order_and_new_ones_get_checksums(
    repository: Repository, published: dict[str, str]
):
    text = f"{published['library']}\norg/example/alone/1.0/alone-1.0.jar\n"
    assert relocked(text, repository.address).splitlines() == [published["library"], published["alone"]]


def test_a_file_that_is_not_what_its_repository_says_is_refused(repository: Repository, published: dict[str, str]):
    repository.files["org/example/alone/1.0/alone-1.0.jar"] += b"more"
    with pytest.raises(WrongChecksum, match="alone"):
        relocked("org/example/alone/1.0/alone-1.0.jar\n", repository.address)


def test_the_command_writes_the_lock_and_reports_what_fails(
    repository: Repository,
    published: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("SVC_MAVEN_REPOSITORY", repository.address)
    file = tmp_path / "engine-1.0.lock"
    file.write_text("root org.example:engine:1.0\n")
    assert main([str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: changed\n"
    assert len(parse(file.name, file.read_text()).artifacts) == 3
    assert main([str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: as it was\n"
    file.write_text("org/example/nothing.jar\n")
    assert main([str(file)]) == 1
    assert "nothing.jar: the repository answers 404" in capsys.readouterr().err
