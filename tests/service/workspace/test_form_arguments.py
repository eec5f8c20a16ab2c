"""Passwords among the values of forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_jupyter.api.notes import NoteForm
from svc_jupyter.api.text import HIDDEN
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.workspace.form_arguments import open_arguments, seal_arguments

FORMS = [NoteForm(name="token", type="password", default=""), NoteForm(name="day", type="text", default="")]


def test_a_password_is_sealed_and_opened_again(tmp_path: Path) -> None:
    box = SecretBox(tmp_path / "secret.key")
    plain, sealed = seal_arguments({"token": "s3cret", "day": "1"}, FORMS, box)
    assert plain == {"day": "1"}
    assert sealed is not None
    assert "s3cret" not in sealed
    assert open_arguments(plain, sealed, box) == {"token": "s3cret", "day": "1"}


def test_a_password_as_a_record_shows_it_is_refused_instead_of_used(tmp_path: Path) -> None:
    box = SecretBox(tmp_path / "secret.key")
    with pytest.raises(Invalid, match=r"^arguments\.token: is hidden in records; give the password itself"):
        seal_arguments({"token": HIDDEN}, FORMS, box)
    assert seal_arguments({"day": HIDDEN}, FORMS, box) == ({"day": HIDDEN}, None)
