"""Resolve the names in a policy line: objects by name or id, users by e-mail address, groups by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from svc_jupyter.magics.arguments.options import nearest
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.workspace.places import folder_at, is_id, note_called, path_of

if TYPE_CHECKING:
    from svc_jupyter.client import Client

_IDS = re.compile(r"\b(user|group) (\d+)\b")
_WIRE_WORDS = {"schedule": "scheduler"}
"""Maps the magic's words to the contract's."""


def kinds() -> list[str]:
    """Return the magic's words for the contract's kinds of object."""
    from svc_jupyter.api.object_policies import SourceType

    said = {wire: word for word, wire in _WIRE_WORDS.items()}
    return [said.get(kind, str(kind)) for kind in SourceType]


class PolicyObject:
    """An object with a policy: its `source_type` and `source_id`, and its name for messages."""

    def __init__(self, source_type: str, source_id: int | str, name: str | None = None) -> None:
        self.source_type = source_type
        self.source_id = source_id
        self.name = name

    def __str__(self) -> str:
        said = next((word for word, wire in _WIRE_WORDS.items() if wire == self.source_type), self.source_type)
        return f"{said} {self.source_id}" + (f" · {self.name}" if self.name else "")


def object_called(client: Client, kind: str, wanted: str, folder_type: str) -> PolicyObject:
    """Return the object of a kind with an id, a name or a location. Raises the client's errors and SvcUsageError.

    The service decides which kinds can have a policy.
    """
    source_type = _WIRE_WORDS.get(kind, kind)
    if is_id(wanted):
        return PolicyObject(source_type, int(wanted))
    match source_type:
        case "folder":
            folder = folder_at(client, wanted, folder_type)
            return PolicyObject(source_type, folder.id, folder.location)
        case "note":
            note = note_called(client, wanted)
            return PolicyObject(source_type, note.id, path_of(note))
        case "cluster":
            cluster = client.clusters.get(wanted)
            return PolicyObject(source_type, cluster.id, wanted)
        case "scheduler":
            schedule = client.schedules.find(wanted)
            return PolicyObject(source_type, schedule.id, schedule.name)
        case "jupyter_notebook" if "/" in wanted:
            return PolicyObject(source_type, wanted)
        case "jupyter_notebook":
            raise SvcUsageError(
                f"svc_policy: name the {kind} by its path in the service, as in Common/report.ipynb, or its id, not by "
                f"{wanted!r}"
            )
        case _:
            raise SvcUsageError(f"svc_policy: name the {kind} by its id, not by {wanted!r}")


class People:
    """The users and groups of the account, looked up on demand."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._users: dict[int, str] | None = None
        self._groups: dict[int, str] | None = None

    def user_ids(self, wanted: Sequence[str]) -> list[int]:
        """Return the ids of users given by id or e-mail address. Raises NotFound with the nearest."""
        return [int(word) if is_id(word) else _id_of(word.lower(), self._of_users(), "user") for word in wanted]

    def group_ids(self, wanted: Sequence[str]) -> list[int]:
        """Return the ids of groups given by id or name. Raises NotFound with the nearest."""
        return [int(word) if is_id(word) else _id_of(word, self._of_groups(), "group") for word in wanted]

    def names(self, users: Iterable[int], groups: Iterable[int]) -> list[str]:
        """Return the names of users and groups; their ids where the caller may not read them."""
        return [*(self._name("user", one) for one in users), *(self._name("group", one) for one in groups)]

    def with_names(self, reason: str) -> str:
        """Return a reason of the service with ids of users and groups replaced by names."""
        return _IDS.sub(lambda found: self._name(found[1], int(found[2])), reason)

    def _name(self, noun: str, one: int) -> str:
        from svc_jupyter.client.errors import Forbidden

        try:
            known = (self._of_users() if noun == "user" else self._of_groups()).get(one)
        except Forbidden:
            known = None
        if known is None:
            return f"{noun} {one}"
        return known if noun == "user" else f"{noun} {known}"

    def _of_users(self) -> dict[int, str]:
        if self._users is None:
            self._users = {user.id: user.email for user in self._client.users.iter()}
        return self._users

    def _of_groups(self) -> dict[int, str]:
        if self._groups is None:
            self._groups = {group.id: group.name for group in self._client.groups.iter()}
        return self._groups


def _id_of(word: str, known: dict[int, str], noun: str) -> int:
    from svc_jupyter.client.errors import NotFound

    found = next((one for one, name in known.items() if name == word), None)
    if found is None:
        near = nearest(word, list(known.values()))
        raise NotFound(f"there is no {noun} {word} in this account{f'.{near}' if near else ''}", status=404)
    return found
