"""The account: the caller, features, storage."""
# Made from asynchronous/account.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api.account import Account, Features, Storage
from svc_jupyter.api.retention import PrunePlan, RetentionRules
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.account import AccountFlows


class AccountCalls:
    """The account of the caller, as `client.account`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = AccountFlows(performer.link)

    def get(self) -> Account:
        """Return the account and the caller's user."""
        return self._performer.run(self._flows.get())

    def features(self) -> Features:
        """Return which features are enabled."""
        return self._performer.run(self._flows.features())

    def set_features(self, **features: bool) -> Features:
        """Enable or disable features, as in `set_features(jupyter_notebooks=True)`; the others are unchanged."""
        return self._performer.run(self._flows.set_features(features))

    def storage(self) -> Storage:
        """Return the account's storage location; secrets are hidden."""
        return self._performer.run(self._flows.storage())

    def set_storage(
        self,
        url: str,
        *,
        access_key: str | None = None,
        secret_key: str | None = None,
        region: str | None = None,
        endpoint: str | None = None,
    ) -> Storage:
        """Set the account's storage location and its credentials."""
        return self._performer.run(
            self._flows.set_storage(
                url=url, access_key=access_key, secret_key=secret_key, region=region, endpoint=endpoint
            )
        )

    def retention(self) -> RetentionRules:
        """Return the rules by which files of ended commands are deleted."""
        return self._performer.run(self._flows.retention())

    def set_retention(self, rules: Sequence[Mapping[str, Any]]) -> RetentionRules:
        """Replace the rules, as in `set_retention([{"what": "results", "keep_days": 90}])`; an empty list keeps all."""
        return self._performer.run(self._flows.set_retention(rules))

    def preview_retention(self, rules: Sequence[Mapping[str, Any]] | None = None) -> PrunePlan:
        """Return what rules would delete now, by default those in force."""
        return self._performer.run(self._flows.preview_retention(rules))
