"""What a leaving node is waited for, in words."""

from svc_jupyter.service.runtimes.hadoop.departure import what_is_left
from svc_jupyter.service.runtimes.hadoop.yarn_rest import Holding

NAMES = {"a": "application_1_0001 (count)", "b": "application_1_0002 (sort)", "c": "c", "d": "d"}


def test_running_containers_are_counted_with_their_applications():
    assert what_is_left(Holding({"a": 1, "b": 0}), NAMES) == (
        "decommissioning, 1 container left: application_1_0001 (count)"
    )
    assert what_is_left(Holding({"a": 2, "b": 1}), NAMES) == (
        "decommissioning, 3 containers left: application_1_0001 (count), application_1_0002 (sort)"
    )


def test_outputs_that_are_still_needed_name_the_application():
    assert what_is_left(Holding({"b": 0}), NAMES) == (
        "decommissioning, no container left; its outputs are needed by application_1_0002 (sort)"
    )


def test_many_applications_are_not_all_named():
    left = what_is_left(Holding(dict.fromkeys("abcd", 1)), NAMES)
    assert left.endswith("application_1_0002 (sort), c and 1 more")


def test_nothing_is_left():
    assert what_is_left(Holding({}), NAMES) == "decommissioning, nothing left"
