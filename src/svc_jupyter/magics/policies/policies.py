"""`%svc_policy`: who may do what to one object, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import MagicMethod, out_option, output_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.policies.answer import PolicyAnswer
from svc_jupyter.magics.policies.objects import People, PolicyObject, object_called
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.workspace.folders import FOLDER_TYPES

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.object_policies import ObjectDecisions, ObjectPolicy, PolicyVersion
    from svc_jupyter.client import Client

_EXPLAINED = 5
"""Maximum number of users of a new entry whose decisions are shown."""
_OBJECT = (
    argument("kind", metavar="KIND", help="note, folder, schedule, cluster and what else has policies."),
    argument(
        "object",
        metavar="OBJECT",
        help="Its id; also the location of a note or folder, the name of a schedule, the path of a jupyter_notebook.",
    ),
    argument(
        "--type",
        metavar="TYPE",
        choices=FOLDER_TYPES,
        default=FOLDER_TYPES[0],
        help="Of a folder that is given by its location: notes (unless given) or notebook_dashboards.",
    ),
)
_ENTRY = (
    argument("--user", metavar="USER", action="append", default=[], help="E-mail address or id of a user. Repeatable."),
    argument("--group", metavar="GROUP", action="append", default=[], help="Name or id of a group. Repeatable."),
    argument(
        "--action",
        metavar="ACTION",
        action="append",
        required=True,
        help="read, update, delete, manage, all; of clusters also start, terminate, clone. Repeatable.",
    ),
    out_option("the policy"),
)


def _object_arguments(magic: MagicMethod) -> MagicMethod:
    for option in reversed(_OBJECT):
        magic = option(magic)
    return magic


def _entry_options(magic: MagicMethod) -> MagicMethod:
    for option in reversed(_ENTRY):
        magic = option(magic)
    return _object_arguments(magic)


class PolicyMagics(SvcFamily):
    """The magic for policies."""

    @line_magic
    @argument("action", metavar="ACTION", nargs="?", help="What to do (default: show).")
    def svc_policy(self, line: str) -> Any:
        """Show and change who may do what with an object. Each action has its own options.

        show KIND OBJECT, allow KIND OBJECT, deny KIND OBJECT, history KIND OBJECT, clear KIND OBJECT:
        `%svc_policy show note Common/late --for ann@example.com` shows what Ann may do with the note, and why.
        """
        return self.act("svc_policy", line, "show")

    @action("svc_policy show")
    @_object_arguments
    @argument("--for", dest="user", metavar="USER", help="User whose rights to explain (default: you).")
    @argument("--action", metavar="ACTION", help="Explain only this action (default: all).")
    @out_option("the policy")
    def show(self, values: argparse.Namespace) -> PolicyAnswer:
        """Show the policy of an object, and what a user may do with it and why."""

        def fetch() -> PolicyAnswer:
            about = self._about(values)
            record = self._client.object_policies.get(about.source_type, about.source_id)
            return self._answer(about, record, [values.user], values.action)

        return self.keep(values, ask(fetch, "policy"))

    @action("svc_policy allow")
    @_entry_options
    @argument("--only", action="store_true", help="Deny them everything that no entry allows.")
    def allow(self, values: argparse.Namespace) -> PolicyAnswer:
        """Allow users or groups an action; the new entry precedes earlier ones about them."""
        return self._put("allow", values, only=values.only)

    @action("svc_policy deny")
    @_entry_options
    def deny(self, values: argparse.Namespace) -> PolicyAnswer:
        """Deny users or groups an action; the new entry precedes earlier ones about them."""
        return self._put("deny", values)

    @action("svc_policy history")
    @_object_arguments
    @output_options
    def history(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the policies that an object has had as a DataFrame, newest first."""

        def fetch() -> pd.DataFrame:
            about = self._about(values)
            versions = self._client.object_policies.history(about.source_type, about.source_id, per_page=100).history
            return history_frame(versions, People(self._client))

        frame = ask(fetch, "history")
        return self.shown(values, frame)

    @action("svc_policy clear")
    @_object_arguments
    @argument("--yes", action="store_true", help="Confirm the change.")
    def clear(self, values: argparse.Namespace) -> None:
        """Remove all entries, so that groups and roles decide."""

        def change() -> str:
            about = self._about(values)
            policies = self._client.object_policies
            count = len(policies.get(about.source_type, about.source_id).policies)
            entries = f"{count} {'entry' if count == 1 else 'entries'}"
            if not values.yes:
                raise SvcUsageError(
                    f"svc_policy clear: the policy of {about} would lose its {entries}. Nothing was changed; add --yes "
                    "to do it."
                )
            policies.set(about.source_type, about.source_id, [])
            return f"policy of {about} · {entries} taken out: groups and roles decide"

        print(ask(change, "policy"))  # noqa: T201  the answer is the output

    @property
    def _client(self) -> Client:
        return self.session.client()

    def _about(self, values: argparse.Namespace) -> PolicyObject:
        return object_called(self._client, values.kind, values.object, values.type)

    def _put(self, access: str, values: argparse.Namespace, *, only: bool = False) -> PolicyAnswer:
        """Prepend an entry; return the policy with its effect on the users it names."""
        if not values.user and not values.group:
            raise SvcUsageError(f"svc_policy {access}: say whom, by --user or --group")

        def change() -> PolicyAnswer:
            about, people = self._about(values), People(self._client)
            users, groups = people.user_ids(values.user), people.group_ids(values.group)
            policies = self._client.object_policies
            present = policies.get(about.source_type, about.source_id).policies
            now = [one.model_dump(mode="json", exclude_unset=True) for one in present]
            wanted = put_first(entry(access, users, groups, values.action), now)
            if only:
                wanted = put_last(wanted, entry("deny", users, groups, ["all"]))
            record = policies.set(about.source_type, about.source_id, wanted)
            return self._answer(about, record, users[:_EXPLAINED], None, people)

        return self.keep(values, ask(change, "policy"))

    def _answer(
        self,
        about: PolicyObject,
        record: ObjectPolicy,
        users: Sequence[int | str | None],
        action: str | None,
        people: People | None = None,
    ) -> PolicyAnswer:
        people = people or People(self._client)
        if about.name is None and about.source_id != record.path:
            about.name = record.path
        conditions = [one.condition for one in record.policies]
        who = [people.names(condition.service_users, condition.service_groups) for condition in conditions]
        explain = self._client.object_policies.explain
        found: list[ObjectDecisions] = []
        for user in users:
            explained = explain(about.source_type, about.source_id, user=user, action=action)
            if explained is None:
                return PolicyAnswer(about, record, who)
            for one in explained.decisions:
                one.because = people.with_names(one.because)
            found.append(explained)
        return PolicyAnswer(about, record, who, found)


def history_frame(versions: Iterable[PolicyVersion], people: People) -> pd.DataFrame:
    """Return a row per policy, newest first: when it was set, by whom, and its entries in words."""
    rows = []
    for version in versions:
        entries = [
            f"{entry.access} {', '.join(entry.action)} · "
            + ", ".join(people.names(entry.condition.service_users, entry.condition.service_groups))
            for entry in version.policies
        ]
        rows.append([version.created_at, version.email, "; ".join(entries) or "none"])
    return frame_of(("set_at", "set_by", "policy"), rows, times=("set_at",))


Entry = Mapping[str, Any]
SUBJECTS = ("service_users", "service_groups")
_ALL = "all"


def entry(access: str, users: Sequence[int], groups: Sequence[int], actions: Sequence[str]) -> dict[str, Any]:
    """Return an entry; `users` or `groups` is omitted when empty."""
    condition = {name: list(ids) for name, ids in zip(SUBJECTS, (users, groups), strict=True) if ids}
    return {"access": access, "condition": condition, "action": list(actions)}


def put_first(first: Entry, policy: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return a policy in which an entry takes precedence over all others."""
    return without_idle([first, *policy])


def put_last(policy: Sequence[Entry], last: Entry) -> list[dict[str, Any]]:
    """Return a policy in which an entry decides only what no other entry does."""
    return without_idle([*policy, last])


def without_idle(policy: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return an equivalent policy, without users and groups whose actions earlier entries decide."""
    said: dict[tuple[str, int], set[str]] = {}
    kept = []
    for one in policy:
        actions = set(one["action"])
        condition = {}
        for kind in SUBJECTS:
            named = [subject for subject in one["condition"].get(kind, ()) if _adds(said.get((kind, subject)), actions)]
            if named:
                condition[kind] = named
            for subject in named:
                said.setdefault((kind, subject), set()).update(actions)
        if condition:
            kept.append({"access": str(one["access"]), "condition": condition, "action": list(one["action"])})
    return kept


def _adds(said: set[str] | None, actions: set[str]) -> bool:
    """Whether an entry with these actions can decide anything after the earlier entries."""
    return said is None or (_ALL not in said and not actions <= said)
