"""Why an attempt could not begin."""

from __future__ import annotations

import pytest

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun


@pytest.mark.parametrize(
    ("failure", "may_retry"),
    [
        (Invalid("label: there is none"), False),
        (NotFound("tap 7 is not there"), False),
        (ClusterFailure("cluster etl is not UP"), True),
        (ProviderFailure("the disk is full"), True),
    ],
)
def test_a_start_that_fails_because_of_the_command_is_not_retried(
    failure: Invalid | NotFound | ClusterFailure | ProviderFailure, may_retry: bool
) -> None:
    assert isinstance(failure, START_FAILURES)
    outcome = not_begun(failure)
    assert (outcome.succeeded, outcome.message, outcome.may_retry) == (False, failure.message, may_retry)
