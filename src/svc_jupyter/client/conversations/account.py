"""The account: the caller, features, storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.account import Account, Features, Storage
from svc_jupyter.api.retention import PrunePlan, RetentionRules
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link


class AccountFlows:
    """Requests about the account, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def get(self) -> Flow[Account]:
        return fetch(self.link, Call("GET", paths.api("account")), Account)

    def features(self) -> Flow[Features]:
        return fetch(self.link, Call("GET", paths.api("account/features")), Features)

    def set_features(self, changes: dict[str, bool]) -> Flow[Features]:
        return fetch(self.link, Call("PUT", paths.api("account/features"), body=changes), Features)

    def storage(self) -> Flow[Storage]:
        return fetch(self.link, Call("GET", paths.api("account/storage")), Storage)

    def set_storage(self, **values: str | None) -> Flow[Storage]:
        body: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
        return fetch(self.link, Call("PUT", paths.api("account/storage"), body=body), Storage)

    def retention(self) -> Flow[RetentionRules]:
        return fetch(self.link, Call("GET", paths.api("account/retention")), RetentionRules)

    def set_retention(self, rules: Sequence[Mapping[str, Any]]) -> Flow[RetentionRules]:
        call = Call("PUT", paths.api("account/retention"), body={"rules": [*rules]})
        return fetch(self.link, call, RetentionRules)

    def preview_retention(self, rules: Sequence[Mapping[str, Any]] | None) -> Flow[PrunePlan]:
        body = {} if rules is None else {"rules": [*rules]}
        return fetch(self.link, Call("POST", paths.api("account/retention/preview"), body=body), PrunePlan)
