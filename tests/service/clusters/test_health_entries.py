"""Entries of the health record."""

from svc_jupyter.service.clusters.cluster_engine import ServiceLook
from svc_jupyter.service.clusters.health_entries import ServiceState, heap_entry, master_entry, service_entry


def test_a_heap_is_reported_in_percent_and_colour():
    heaps = {
        0.0: {"usage_percent": "0.0", "status": "green"},
        79.94: {"usage_percent": "79.9", "status": "green"},
        80.0: {"usage_percent": "80.0", "status": "yellow"},
        94.9: {"usage_percent": "94.9", "status": "yellow"},
        95.0: {"usage_percent": "95.0", "status": "red"},
        None: {"usage_percent": "0.0", "status": "red"},
    }
    assert {percent: heap_entry(percent) for percent in heaps} == heaps


def test_a_service_that_answers_is_up():
    assert service_entry(ServiceState(ServiceLook(is_alive=True, is_responsive=True, heap_percent=41.26))) == {
        "responsiveness_status": "UP",
        "liveliness_status": "UP",
        "heap": {"usage_percent": "41.3", "status": "green"},
    }


def test_a_service_that_nothing_needed_yet_is_down_and_nothing_is_wrong():
    entry = service_entry(ServiceState(None))
    assert (entry["responsiveness_status"], entry["liveliness_status"]) == ("DOWN", "DOWN")
    assert entry["heap"]["status"] == "green"
    assert "not started" in entry["reason"]


def test_a_service_that_hangs_lives_and_does_not_respond():
    entry = service_entry(ServiceState(ServiceLook(is_alive=True, is_responsive=False)))
    assert (entry["responsiveness_status"], entry["liveliness_status"]) == ("DOWN", "UP")
    assert entry["heap"]["status"] == "red"


def test_a_look_that_took_too_long_counts_as_down():
    entry = service_entry(ServiceState(None, is_known=False))
    assert (entry["responsiveness_status"], entry["heap"]["status"]) == ("DOWN", "red")


def test_the_coordinator_is_reported_in_strings_and_a_count():
    assert master_entry({"cpu_percent": 12.34, "disk_percent": 40.0}) == {
        "cpu_usage": "12.3",
        "disk_usage": "40.0",
        "spotloss_count": 0,
    }
