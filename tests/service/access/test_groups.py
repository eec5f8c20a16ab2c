import pytest

from svc_jupyter.service.access.lookups import chosen_groups
from svc_jupyter.service.ground.errors import Invalid

IDS = {"system-admin": 1, "system-user": 2}


@pytest.mark.parametrize("text", [None, "", " ", ",", " , "])
def test_without_a_choice_it_is_the_group_of_users(text):
    assert chosen_groups(text, IDS) == ["system-user"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("system-admin", ["system-admin"]),
        ("1", ["system-admin"]),
        (" 2 , system-admin ", ["system-user", "system-admin"]),
        ("1,system-admin,1", ["system-admin"]),
    ],
)
def test_groups_are_chosen_by_id_or_name_each_once(text, names):
    assert chosen_groups(text, IDS) == names


@pytest.mark.parametrize("text", ["analysts", "system-user,3", "0", "-1", "²", "SYSTEM-ADMIN", "system-user\x00"])
def test_an_unknown_group_is_refused_and_the_known_ones_are_named(text):
    with pytest.raises(Invalid, match=r"groups: there is no group .* it has system-admin, system-user"):
        chosen_groups(text, IDS)
