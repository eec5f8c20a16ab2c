"""Why an attempt could not begin."""

from __future__ import annotations

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun

FAILURES = [
    (Invalid("label: there is none"), "label: there is none", False),
    (NotFound("tap 7 is not there"), "tap 7 is not there", False),
    (ClusterFailure("cluster etl is not UP"), "cluster etl is not UP", True),
    (ProviderFailure("the disk is full"), "the disk is full", True),
]


def test_a_start_that_fails_because_of_the_command_is_not_retried() -> None:
    outcomes = [not_begun(failure) for failure, *_ in FAILURES]
    assert [(outcome.message, outcome.may_retry) for outcome in outcomes] == [
        (told, may_retry) for _, told, may_retry in FAILURES
    ]
    assert not [outcome for outcome in outcomes if outcome.succeeded]
    assert not [failure for failure, *_ in FAILURES if not isinstance(failure, START_FAILURES)]
