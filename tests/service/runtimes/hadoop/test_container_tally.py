"""Counters of NodeManagers that start again and go, summed for the cluster."""

from svc_jupyter.service.runtimes.hadoop.jmx import ContainerCounters, ContainerTally, read_tally, write_tally

BOTH = {"1", "2"}


def test_the_counters_of_all_nodes_are_summed():
    tally = ContainerTally().seen({"1": ContainerCounters(10, 1, 2), "2": ContainerCounters(11, 3, 4)}, BOTH)
    assert (tally.failed, tally.killed) == (4, 6)


def test_a_node_manager_that_started_again_keeps_what_it_had_counted():
    before = ContainerTally().seen({"1": ContainerCounters(10, 5, 5)}, BOTH)
    after = before.seen({"1": ContainerCounters(99, 1, 0)}, BOTH)
    assert (after.failed, after.killed) == (6, 5)


def test_a_node_that_went_keeps_what_it_had_counted():
    before = ContainerTally().seen({"1": ContainerCounters(10, 1, 1), "2": ContainerCounters(10, 2, 2)}, BOTH)
    after = before.seen({"1": ContainerCounters(10, 1, 1)}, {"1"})
    assert (after.failed, after.killed) == (3, 3)
    assert after.current.keys() == {"1"}


def test_a_silent_node_counts_with_what_it_last_reported():
    before = ContainerTally().seen({"1": ContainerCounters(10, 1, 1)}, BOTH)
    assert before.seen({}, BOTH).failed == 1


def test_the_same_look_twice_changes_nothing():
    look = {"1": ContainerCounters(10, 1, 1)}
    once = ContainerTally().seen(look, BOTH)
    assert once.seen(look, BOTH) == once


def test_a_tally_is_found_again_in_its_file(tmp_path):
    file = tmp_path / "folder" / "containers.json"
    assert read_tally(file) == ContainerTally()
    tally = ContainerTally(1, 2, {"7": ContainerCounters(3, 4, 5)})
    write_tally(file, tally)
    assert read_tally(file) == tally
    assert [entry.name for entry in file.parent.iterdir()] == ["containers.json"]


def test_a_file_that_was_cut_off_counts_as_none(tmp_path):
    file = tmp_path / "containers.json"
    file.write_text('{"past')
    assert read_tally(file) == ContainerTally()
