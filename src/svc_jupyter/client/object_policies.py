"""Policies of single objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.api import paths
from svc_jupyter.api.object_policies import ObjectDecisions, ObjectPolicy, PolicyHistory
from svc_jupyter.client.calls import Call, Flow, fetch, told_if_known
from svc_jupyter.client.link import Link

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

Policy = Sequence[Mapping[str, Any]]


class _PolicyFlows:
    """What both kinds of client say to the service about policies."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def get(self, source_type: str, source_id: int | str) -> Flow[ObjectPolicy]:
        # In the body as the contract has it, and in the query for what drops the body of a GET on the way.
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
        return told_if_known(fetch(self.link, Call("GET", paths.api("object_policy/decision"), query), ObjectDecisions))


class ObjectPolicies:
    """Policies of objects, as `client.object_policies`; `source_type` is `scheduler`, `note`, `folder` …

    `source_id` is the object's id; of a `jupyter_notebook` also its path in the service, as in `Common/report.ipynb`.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _PolicyFlows(client._link)

    def get(self, source_type: str, source_id: int | str) -> ObjectPolicy:
        """Return the policy of an object; `policies` is empty where there is none."""
        return self._client._run(self._flows.get(source_type, source_id))

    def set(self, source_type: str, source_id: int | str, policy: Policy) -> ObjectPolicy:
        """Put entries `{access, condition, action}` in place of the object's policy; none leave it to the groups."""
        return self._client._run(self._flows.set(source_type, source_id, policy))

    def explain(
        self, source_type: str, source_id: int | str, *, user: int | str | None = None, action: str | None = None
    ) -> ObjectDecisions | None:
        """Return what a user (id or e-mail address; by default you) may do to an object, and why or why not.

        Without `action` all actions that a policy of the object can name. None where the service does not tell, or has
        no such object.
        """
        return self._client._run(self._flows.explain(source_type, source_id, user, action))

    def history(self, source_type: str, source_id: int | str, *, page: int = 1, per_page: int = 10) -> PolicyHistory:
        """Return one page of the policies that an object has had, newest first."""
        return self._client._run(self._flows.history(source_type, source_id, page, per_page))


class AsyncObjectPolicies:
    """Policies of objects, as `client.object_policies`; `source_type` is `scheduler`, `note`, `folder` …

    `source_id` is the object's id; of a `jupyter_notebook` also its path in the service, as in `Common/report.ipynb`.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _PolicyFlows(client._link)

    async def get(self, source_type: str, source_id: int | str) -> ObjectPolicy:
        """Return the policy of an object; `policies` is empty where there is none."""
        return await self._client._run(self._flows.get(source_type, source_id))

    async def set(self, source_type: str, source_id: int | str, policy: Policy) -> ObjectPolicy:
        """Put entries `{access, condition, action}` in place of the object's policy; none leave it to the groups."""
        return await self._client._run(self._flows.set(source_type, source_id, policy))

    async def explain(
        self, source_type: str, source_id: int | str, *, user: int | str | None = None, action: str | None = None
    ) -> ObjectDecisions | None:
        """Return what a user (id or e-mail address; by default you) may do to an object, and why or why not.

        Without `action` all actions that a policy of the object can name. None where the service does not tell, or has
        no such object.
        """
        return await self._client._run(self._flows.explain(source_type, source_id, user, action))

    async def history(
        self, source_type: str, source_id: int | str, *, page: int = 1, per_page: int = 10
    ) -> PolicyHistory:
        """Return one page of the policies that an object has had, newest first."""
        return await self._client._run(self._flows.history(source_type, source_id, page, per_page))
