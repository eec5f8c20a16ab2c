"""Policies of individual objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.object_policies import ObjectDecisions, ObjectPolicy, PolicyHistory
from svc_jupyter.client.transport.calls import Call, Flow, answer_if_known, fetch
from svc_jupyter.client.transport.link import Link

Policy = Sequence[Mapping[str, Any]]


class PolicyFlows:
    """Requests about policies, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def get(self, source_type: str, source_id: int | str) -> Flow[ObjectPolicy]:
        # In the body, as the contract says, and in the query, for proxies that drop the body of a GET.
        chosen = {"source_id": str(source_id), "source_type": source_type}
        return fetch(self.link, Call("GET", paths.api("object_policy/policy"), chosen, body=chosen), ObjectPolicy)

    def set(self, source_type: str, source_id: int | str, policy: Policy) -> Flow[ObjectPolicy]:
        text = json.dumps([dict(entry) for entry in policy])
        body = {"source_id": str(source_id), "source_type": source_type, "policy": text}
        return fetch(self.link, Call("PUT", paths.api("object_policy/policy"), body=body), ObjectPolicy)

    def history(self, source_type: str, source_id: int | str, page: int, per_page: int) -> Flow[PolicyHistory]:
        query = {"source_id": source_id, "source_type": source_type, "page": page, "per_page": per_page}
        return fetch(self.link, Call("GET", paths.api("object_policy/history"), query), PolicyHistory)

    def explain(
        self, source_type: str, source_id: int | str, user: int | str | None, action: str | None
    ) -> Flow[ObjectDecisions | None]:
        query = {"source_id": source_id, "source_type": source_type, "user": user, "action": action}
        return answer_if_known(
            fetch(self.link, Call("GET", paths.api("object_policy/decision"), query), ObjectDecisions)
        )
