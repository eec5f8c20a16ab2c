from __future__ import annotations

from pathlib import Path

import pytest

from svc_jupyter.service.installs import maven
from svc_jupyter.service.installs.failures import RepositoryRefused
from svc_jupyter.service.installs.maven import SETTINGS, mirror_in, repository

NAMESPACE = 'xmlns="http://maven.apache.org/SETTINGS/1.2.0"'


def settings(*mirrors: tuple[str, str], namespace: str = "") -> str:
    inside = "".join(f"<mirror><mirrorOf>{of}</mirrorOf><url>{url}</url></mirror>" for of, url in mirrors)
    return f"<settings {namespace}><mirrors>{inside}</mirrors></settings>"


MIRROR = "https://mirror.example.com/maven"


def test_a_mirror_counts_when_it_stands_for_the_default_repository():
    stands = {
        "central": MIRROR,
        "*": MIRROR,
        "external:*": MIRROR,
        "snapshots,central": MIRROR,
        "*, !snapshots": MIRROR,
        "*,!central": None,
        "snapshots": None,
    }
    assert {of: mirror_in(settings((of, MIRROR))) for of in stands} == stands


def test_settings_of_maven_may_name_their_namespace():
    assert mirror_in(settings(("central", MIRROR), namespace=NAMESPACE)) == MIRROR


def test_the_setting_goes_before_the_mirror_and_the_mirror_before_the_default(tmp_path: Path):
    default = repository(None, tmp_path)
    assert default.startswith("https://")
    (tmp_path / SETTINGS).parent.mkdir()
    (tmp_path / SETTINGS).write_text(settings(("*", "https://mirror.example.com/maven")))
    assert repository(None, tmp_path) == "https://mirror.example.com/maven/"
    assert repository("https://other.example.com/", tmp_path) == "https://other.example.com/"


def test_settings_that_cannot_be_read_are_named(tmp_path: Path):
    (tmp_path / SETTINGS).parent.mkdir()
    (tmp_path / SETTINGS).write_text("<settings>")
    with pytest.raises(RepositoryRefused, match=r"settings\.xml.*SVC_MAVEN_REPOSITORY"):
        repository(None, tmp_path)


def test_a_package_that_was_not_built_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(maven, "_DEFAULT", tmp_path / "default-repository.txt")
    with pytest.raises(RepositoryRefused, match="install svc-jupyter anew, or set SVC_MAVEN_REPOSITORY"):
        repository(None, tmp_path)
