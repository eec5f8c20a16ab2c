"""Why an attempt could not begin, as its outcome."""

from __future__ import annotations

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands.kind import Outcome
from svc_jupyter.service.engines.failures import EngineFailure
from svc_jupyter.service.errors import Invalid, NotFound
from svc_jupyter.service.storage.failures import StorageFailure

START_FAILURES = (StorageFailure, EngineFailure, ClusterFailure, ProviderFailure, Invalid, NotFound)
"""What may keep an attempt from beginning, to be caught and told by `not_begun`."""


def not_begun(
    failure: StorageFailure | EngineFailure | ClusterFailure | ProviderFailure | Invalid | NotFound,
) -> Outcome:
    """Return the outcome; what is wrong with the command itself is not tried again."""
    if isinstance(failure, (StorageFailure, EngineFailure)):
        return Outcome(False, failure.message, may_retry=failure.may_retry)
    return Outcome(False, failure.message, may_retry=not isinstance(failure, (Invalid, NotFound)))
