import pytest

from svc_jupyter.service.access.lookups import chosen_groups
from svc_jupyter.service.ground.errors import Invalid

IDS = {"system-admin": 1, "system-user": 2}


def test_without_a_choice_it_is_the_group_of_users():
    texts = [None, "", " ", ",", " , "]
    assert [chosen_groups(text, IDS) for text in texts] == [["system-user"]] * len(texts)


def test_groups_are_chosen_by_id_or_name_each_once():
    chosen = {
        "system-admin": ["system-admin"],
        "1": ["system-admin"],
        " 2 , system-admin ": ["system-user", "system-admin"],
        "1,system-admin,1": ["system-admin"],
    }
    assert {text: chosen_groups(text, IDS) for text in chosen} == chosen


def test_an_unknown_group_is_refused_and_the_known_ones_are_named():
    def refusal(text: str) -> str:
        with pytest.raises(Invalid) as refused:
            chosen_groups(text, IDS)
        return refused.value.message

    unknown = {
        "analysts": "'analysts'",
        "system-user,3": "'3'",
        "0": "'0'",
        "-1": "'-1'",
        "²": "'²'",
        "SYSTEM-ADMIN": "'SYSTEM-ADMIN'",
        "system-user\x00": r"'system-user\x00'",
    }
    assert {text: refusal(text) for text in unknown} == {
        text: f"groups: there is no group {name} in this account; it has system-admin, system-user"
        for text, name in unknown.items()
    }
