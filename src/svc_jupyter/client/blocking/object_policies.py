"""Policies of individual objects."""
# Made from asynchronous/object_policies.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import json

from svc_jupyter.api import paths
from svc_jupyter.api.object_policies import ObjectDecisions, ObjectPolicy, PolicyHistory
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.requests.groups import Policies
from svc_jupyter.client.transport.calls import Call


class ObjectPolicies:
    """Policies of objects, as `client.object_policies`; `source_type` is `scheduler`, `note`, `folder` …

    `source_id` is the object's id; for a `jupyter_notebook` its path is accepted too, as in `Common/report.ipynb`.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def get(self, source_type: str, source_id: int | str) -> ObjectPolicy:
        """Return the policy of an object; `policies` is empty when it has none."""
        # In the body, as the contract says, and in the query, for proxies that drop the body of a GET.
        chosen = {"source_id": str(source_id), "source_type": source_type}
        call = Call("GET", paths.api("object_policy/policy"), chosen, body=chosen)
        return self._sender.fetch(call, ObjectPolicy)

    def set(self, source_type: str, source_id: int | str, policy: Policies) -> ObjectPolicy:
        """Replace the object's policy by entries `{access, condition, action}`; without any, only roles apply."""
        text = json.dumps([dict(entry) for entry in policy])
        body = {"source_id": str(source_id), "source_type": source_type, "policy": text}
        return self._sender.fetch(Call("PUT", paths.api("object_policy/policy"), body=body), ObjectPolicy)

    def explain(
        self, source_type: str, source_id: int | str, *, user: int | str | None = None, action: str | None = None
    ) -> ObjectDecisions | None:
        """Return what a user (id or e-mail address; by default you) may do to an object, and why.

        Without `action`, for all actions that a policy of the object can name. Returns None when the service lacks the
        extension or the object does not exist.
        """
        params = {"source_id": source_id, "source_type": source_type, "user": user, "action": action}
        call = Call("GET", paths.api("object_policy/decision"), params)
        return self._sender.fetch_if_known(call, ObjectDecisions)

    def history(self, source_type: str, source_id: int | str, *, page: int = 1, per_page: int = 10) -> PolicyHistory:
        """Return one page of an object's former policies, newest first."""
        params = {"source_id": source_id, "source_type": source_type, "page": page, "per_page": per_page}
        return self._sender.fetch(Call("GET", paths.api("object_policy/history"), params), PolicyHistory)
