"""The account: the caller, features, storage."""
# Made from asynchronous/account.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.account import Account, Features, Storage
from svc_jupyter.api.retention import PrunePlan, RetentionRules
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.transport.calls import Call, given

_RESOURCE = paths.api("account")


class AccountCalls:
    """The account of the caller, as `client.account`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def get(self) -> Account:
        """Return the account and the caller's user."""
        return self._sender.fetch(Call("GET", _RESOURCE), Account)

    def features(self) -> Features:
        """Return which features are enabled."""
        return self._sender.fetch(Call("GET", f"{_RESOURCE}/features"), Features)

    def set_features(self, **features: bool) -> Features:
        """Enable or disable features, as in `set_features(jupyter_notebooks=True)`; the others are unchanged."""
        return self._sender.fetch(Call("PUT", f"{_RESOURCE}/features", body=features), Features)

    def storage(self) -> Storage:
        """Return the account's storage location; secrets are hidden."""
        return self._sender.fetch(Call("GET", f"{_RESOURCE}/storage"), Storage)

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
        body = given(url=url, access_key=access_key, secret_key=secret_key, region=region, endpoint=endpoint)
        return self._sender.fetch(Call("PUT", f"{_RESOURCE}/storage", body=body), Storage)

    def retention(self) -> RetentionRules:
        """Return the rules by which files of ended commands are deleted."""
        return self._sender.fetch(Call("GET", f"{_RESOURCE}/retention"), RetentionRules)

    def set_retention(self, rules: Sequence[Mapping[str, Any]]) -> RetentionRules:
        """Replace the rules, as in `set_retention([{"what": "results", "keep_days": 90}])`; an empty list keeps all."""
        return self._sender.fetch(Call("PUT", f"{_RESOURCE}/retention", body={"rules": [*rules]}), RetentionRules)

    def preview_retention(self, rules: Sequence[Mapping[str, Any]] | None = None) -> PrunePlan:
        """Return what rules would delete now, by default those in force."""
        body = {} if rules is None else {"rules": [*rules]}
        return self._sender.fetch(Call("POST", f"{_RESOURCE}/retention/preview", body=body), PrunePlan)
