"""What the bodies about users and tokens may hold."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from svc_jupyter.api.access import Invitation, TokenCreate


def wrong_fields(model: type[BaseModel], body: dict[str, object]) -> tuple[object, ...]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(body)
    return tuple(error["loc"][0] for error in refused.value.errors())


def test_an_invalid_email_address_is_refused():
    emails = ["", "ada", "a@b@c", "a b@c", "<a@b>", "a\0@b", "a@b\n", "@", 7, None, "a@" + "b" * 300, "a\ud800@b"]
    refused = {email: wrong_fields(Invitation, {"invitee_email": email}) for email in emails}
    assert refused == dict.fromkeys(emails, ("invitee_email",))


def test_a_token_needs_a_proper_name():
    names = ["", "a<b", "n" * 256, "\0", 5]
    assert wrong_fields(TokenCreate, {}) == ("name",)
    assert {name: wrong_fields(TokenCreate, {"name": name}) for name in names} == dict.fromkeys(names, ("name",))
