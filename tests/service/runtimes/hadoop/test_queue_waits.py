"""YARN's reasons, as its ResourceManager gives them."""

from __future__ import annotations

from svc_jupyter.service.runtimes.hadoop.queue_waits import reason_in

ADDED = "[Wed Nov 25 07:46:11 +0000 2026] Application is added to the scheduler and is not yet activated. "


def test_a_reason_is_yarns_sentence_without_time_state_and_details() -> None:
    reasons = {
        "": "",
        ADDED: "",
        "AM container is launched, waiting for AM container to Register with RM": "",
        f"{ADDED} (Resource request: <memory:2816, vCores:1> exceeds maximum AM resource allowed).": (
            "Resource request (2,816 MB, 1 vCore) exceeds maximum AM resource allowed"
        ),
        (
            f"{ADDED} (Resource request: <memory:512, max memory:2048, vCores:2, max vCores:4> exceeds current queue "
            "or its parents maximum resource allowed)."
        ): "Resource request (512 MB, 2 vCores) exceeds current queue or its parents maximum resource allowed",
        f'{ADDED}The queue "root.etl" has reached the maximum limit of runnable applications.': (
            'The queue "root.etl" has reached the maximum limit of runnable applications'
        ),
        (
            f"{ADDED}Queue's AM resource limit exceeded.  Details : AM Partition = <DEFAULT_PARTITION>; "
            "AM Resource Request = <memory:1024, vCores:1>; Queue Resource Limit for AM = <memory:1024, vCores:1>; "
        ): "Queue's AM resource limit exceeded",
        "Something new in a later Hadoop.": "Something new in a later Hadoop",
    }
    assert {diagnostics: reason_in(diagnostics) for diagnostics in reasons} == reasons
