from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.runtimes.hadoop.site_files import pools_file, site_file

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=30)


@given(st.dictionaries(TEXT, TEXT, max_size=5))
def test_whatever_a_setting_holds_comes_out_as_it_went_in(settings: dict[str, str]):
    root = ElementTree.fromstring(site_file(settings))
    assert [((e.findtext("name") or ""), (e.findtext("value") or "")) for e in root] == list(settings.items())


def rules(content: bytes) -> list[dict[str, str]]:
    policy = ElementTree.fromstring(content).find("queuePlacementPolicy")
    assert policy is not None
    return [dict(rule.attrib) for rule in policy]


def test_work_goes_to_the_pool_it_names_and_else_to_the_default_one():
    content = pools_file("etl", None)
    assert rules(content) == [{"name": "specified", "create": "true"}, {"name": "default", "queue": "root.etl"}]
    assert [queue.get("name") for queue in ElementTree.fromstring(content).iter("queue")] == ["etl"]


def test_the_users_pools_keep_their_weights_and_get_the_rules():
    own = '<allocations><queue name="etl"><weight>3.0</weight></queue></allocations>'
    content = pools_file("etl", own)
    root = ElementTree.fromstring(content)
    assert [(queue.get("name"), queue.findtext("weight")) for queue in root.iter("queue")] == [("etl", "3.0")]
    assert rules(content)[-1] == {"name": "default", "queue": "root.etl"}


def test_the_users_own_rules_stay():
    own = '<allocations><queuePlacementPolicy><rule name="reject"/></queuePlacementPolicy></allocations>'
    assert rules(pools_file(None, own)) == [{"name": "reject"}]


def test_memory_and_processors_are_shared_unless_the_user_says_how():
    def policies(own: str | None) -> list[str | None]:
        root = ElementTree.fromstring(pools_file(None, own))
        return [entry.text for entry in root.iter("defaultQueueSchedulingPolicy")]

    pools = {
        None: ["drf"],
        '<allocations><queue name="etl"><weight>3.0</weight></queue></allocations>': ["drf"],
        '<allocations><queue name="etl"><schedulingPolicy>fifo</schedulingPolicy></queue></allocations>': [],
        "<allocations><defaultQueueSchedulingPolicy>fair</defaultQueueSchedulingPolicy></allocations>": ["fair"],
    }
    assert {own: policies(own) for own in pools} == pools
