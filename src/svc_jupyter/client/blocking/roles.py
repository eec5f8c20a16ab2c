"""The account's roles: the permissions of the groups that have them."""
# Made from asynchronous/roles.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Role, RoleList
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.requests.groups import Policies, Reference, path_of
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency


class Roles:
    """The account's roles, as `client.roles`; a role is named by its id or name."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, *, page: int = 1, per_page: int = 10) -> RoleList:
        """Return one page of roles, newest first."""
        call = Call("GET", paths.api("roles"), {"page": page, "per_page": per_page})
        return self._sender.fetch(call, RoleList)

    def iter(self) -> Iterator[Role]:
        """Yield all roles, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE), lambda found: (found.roles, found.paging_info)
        )

    def get(self, role: Reference) -> Role:
        """Return a role; raises NotFound for an unknown one."""
        return self._sender.fetch(Call("GET", path_of("roles", role)), Role)

    def create(self, name: str, policies: Policies) -> Role:
        """Create a role from entries such as `{"access": "allow", "resource": "scheduler", "action": ["read"]}`."""
        body = {"name": name, "policies": [dict(entry) for entry in policies]}
        return self._sender.fetch(Call("POST", paths.api("roles"), body=body, headers=idempotency()), Role)

    def update(self, role: Reference, *, name: str | None = None, policies: Policies | None = None) -> Role:
        """Change the given attributes, for all groups that have the role."""
        body = given(name=name, policies=None if policies is None else [dict(entry) for entry in policies])
        return self._sender.fetch(Call("PUT", path_of("roles", role), body=body), Role)

    def delete(self, role: Reference) -> Deleted:
        """Delete a role, also for the groups that have it."""
        return self._sender.fetch(Call("DELETE", path_of("roles", role)), Deleted)

    def duplicate(self, role: Reference, *, name: str | None = None) -> Role:
        """Create a role with the same permissions."""
        call = Call("POST", path_of("roles", role, "duplicate"), body=given(name=name), headers=idempotency())
        return self._sender.fetch(call, Role)
