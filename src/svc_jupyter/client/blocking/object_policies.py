"""Policies of individual objects."""
# Made from asynchronous/object_policies.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from svc_jupyter.api.object_policies import ObjectDecisions, ObjectPolicy, PolicyHistory
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.object_policies import Policy, PolicyFlows


class ObjectPolicies:
    """Policies of objects, as `client.object_policies`; `source_type` is `scheduler`, `note`, `folder` …

    `source_id` is the object's id; for a `jupyter_notebook` its path is accepted too, as in `Common/report.ipynb`.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = PolicyFlows(performer.link)

    def get(self, source_type: str, source_id: int | str) -> ObjectPolicy:
        """Return the policy of an object; `policies` is empty when it has none."""
        return self._performer.run(self._flows.get(source_type, source_id))

    def set(self, source_type: str, source_id: int | str, policy: Policy) -> ObjectPolicy:
        """Replace the object's policy by entries `{access, condition, action}`; without any, only roles apply."""
        return self._performer.run(self._flows.set(source_type, source_id, policy))

    def explain(
        self, source_type: str, source_id: int | str, *, user: int | str | None = None, action: str | None = None
    ) -> ObjectDecisions | None:
        """Return what a user (id or e-mail address; by default you) may do to an object, and why.

        Without `action`, for all actions that a policy of the object can name. Returns None when the service lacks the
        extension or the object does not exist.
        """
        return self._performer.run(self._flows.explain(source_type, source_id, user, action))

    def history(self, source_type: str, source_id: int | str, *, page: int = 1, per_page: int = 10) -> PolicyHistory:
        """Return one page of an object's former policies, newest first."""
        return self._performer.run(self._flows.history(source_type, source_id, page, per_page))
