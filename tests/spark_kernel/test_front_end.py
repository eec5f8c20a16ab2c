"""What the fields and the toolbar of a front end do to the next cells, and what the replies to cells tell it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from svc_jupyter.spark_kernel.conversation import Conversation
from svc_jupyter.spark_kernel.forms import Forms
from svc_jupyter.spark_kernel.front_end import hear, reply_metadata


@pytest.fixture
def conversation() -> Conversation:
    """A conversation before its first cell: it uses neither shell nor service."""
    return Conversation(cast("Any", None), cast("Any", None))


def test_the_fields_give_the_forms_their_values(conversation: Conversation) -> None:
    hear(conversation, {"forms": {"minutes": "45", "days": ["1", "2"]}})
    assert conversation.forms.of("%sql select ${minutes}") == {"minutes": "45", "days": ["1", "2"]}
    assert reply_metadata(conversation) == {}


def test_a_password_goes_only_where_its_name_stands() -> None:
    forms = Forms()
    forms.fill({"pin": "hunter2", "day": "1"}, ["pin"])
    assert forms.of("print('${day}')") == {"day": "1"}
    assert forms.of("z.password('pin')") == {"pin": "hunter2", "day": "1"}
    assert forms.shown() == {"day": "1"}


def test_a_value_set_by_a_cell_stays_until_its_field_changes() -> None:
    forms = Forms()
    forms.fill({"minutes": "30"}, [])
    forms.type({"minutes": "45"})
    forms.fill({"minutes": "30"}, [])
    assert forms.of("") == {"minutes": "45"}
    forms.fill({"minutes": "60"}, [])
    assert forms.of("") == {"minutes": "60"}


def test_a_reply_tells_the_cluster_and_once_what_a_cell_set(conversation: Conversation) -> None:
    hear(conversation, {"cluster": "spark"})
    conversation.forms.type({"minutes": "45"})
    assert reply_metadata(conversation) == {"svc_jupyter": {"cluster": "spark", "forms": {"minutes": "45"}}}
    assert reply_metadata(conversation) == {"svc_jupyter": {"cluster": "spark"}}


def test_an_invalid_message_of_a_front_end_changes_nothing(conversation: Conversation) -> None:
    found = []
    for said in (None, [], {"forms": ["x"], "cluster": 7}, {"passwords": "pin"}, {"cluster": ""}):
        hear(conversation, said)
        found.append((conversation.label, conversation.forms.of("pin")))
    assert found == [(None, {})] * 5
