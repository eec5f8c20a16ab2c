"""The key of stored secrets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from svc_jupyter.service.ground.secrets import SecretBox


def test_a_secret_is_read_with_the_key_beside_the_database(tmp_path: Path):
    sealed = SecretBox(tmp_path / "secret.key").seal("pass")
    assert "pass" not in sealed
    assert SecretBox(tmp_path / "secret.key").open(sealed) == "pass"
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


def test_a_key_that_another_one_makes_meanwhile_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file, link, sealed = tmp_path / "secret.key", os.link, []

    def link_after_another_one(draft: Path, target: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        sealed.append(SecretBox(file).seal("of another one"))
        link(draft, target)

    monkeypatch.setattr(os, "link", link_after_another_one)
    sealed.append(SecretBox(file).seal("of this one"))
    assert [SecretBox(file).open(text) for text in sealed] == ["of another one", "of this one"]
    assert list(tmp_path.iterdir()) == [file]


def test_a_secret_of_another_key_is_reported(tmp_path: Path):
    sealed = SecretBox(tmp_path / "secret.key").seal("pass")
    with pytest.raises(
        ValueError, match=r"^a stored secret cannot be read: other.key in the data folder is not the key"
    ):
        SecretBox(tmp_path / "other.key").open(sealed)
