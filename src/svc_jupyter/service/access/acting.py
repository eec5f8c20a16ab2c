"""Users in whose name the service acts, one at a time, with the groups and policies of now."""

from __future__ import annotations

from svc_jupyter.service.access.caller_reading import CallerReader
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import require_membership
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Forbidden, NotFound


class ActingUsers:
    """Finds them. It blocks: it is called from worker threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._callers = CallerReader()

    def caller(self, account_id: int, user_id: int) -> Caller:
        """Return a user as the caller of what the service does in their name, with the groups they have now.

        Raises `NotFound` for an unknown user, `Forbidden` for a disabled one and one whom no group gives a right.
        """
        with self._database.connect() as connection:
            found = self._callers.user(connection, account_id, user_id)
        if found is None:
            raise NotFound(f"there is no user {user_id} in this account")
        caller, is_enabled = found
        if not is_enabled:
            raise Forbidden(f"user {caller.email} is disabled; an administrator can enable them")
        require_membership(caller)
        return caller
