"""`%svc_status` and `%svc_config`: the connection to the service, and the settings of all cells."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from traitlets import TraitError

from svc_jupyter.durations import duration
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import nearest, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.rendering import Facts
from svc_jupyter.magics.session.session import SvcMagics, ask

if TYPE_CHECKING:
    from svc_jupyter.client import Client

_SECRET = "token"  # noqa: S105  the setting's name


class ConnectionMagics(SvcFamily):
    """The magics for the connection and the settings."""

    @line_magic
    def svc_status(self, line: str) -> Facts:
        """Connect and show the service, your account there and its features. Never shows the token."""
        parse(self.svc_status, line)
        return ask(lambda: service_facts(self.session.client()), "status")

    @line_magic
    @argument("name", metavar="NAME", nargs="?", help="Setting to show or change (default: show all).")
    @argument("value", metavar="VALUE", nargs="?", help="New value (default: show the setting).")
    @argument("--reset", action="store_true", help="Restore the default.")
    def svc_config(self, line: str) -> Facts:
        """Show the settings of all cells, or change one: `%svc_config default_tap flights`.

        They apply until the kernel ends; `%config SvcMagics.default_tap = "flights"` does the same, and so does the
        IPython configuration file. The token is neither shown nor set here: use SVC_API_TOKEN or the profile.
        """
        values = parse(self.svc_config, line)
        name, equals, value = (values.name or "").partition("=")
        if equals:
            values.name, values.value = name, value
        if values.name is not None:
            self._check_name(values.name)
            if values.reset:
                self._set(values.name, SvcMagics.class_traits()[values.name].default())
            elif values.value is not None:
                self._set(values.name, values.value)
        return self._settings_facts(values.name)

    def _check_name(self, name: str) -> None:
        if name == _SECRET:
            raise SvcUsageError(
                "svc_config: a token does not belong in a notebook. "
                "Set SVC_API_TOKEN, or token_file in the profile of the configuration file."
            )
        names = SvcMagics.names()
        if name not in names:
            raise SvcUsageError(
                f"svc_config: there is no setting {name!r}.{nearest(name, names)} Settings: {', '.join(names)}"
            )

    def _set(self, name: str, value: object) -> None:
        trait = SvcMagics.class_traits()[name]
        try:
            converted = trait.from_string(value) if isinstance(value, str) else value
            setattr(self.session.settings, name, converted)
        except (TraitError, ValueError):
            raise SvcUsageError(f"svc_config: {name} does not take {value!r}. {trait.help}") from None

    def _settings_facts(self, only: str | None) -> Facts:
        settings = self.session.settings
        names = [only] if only else SvcMagics.names()
        facts = [(name, _shown(getattr(settings, name))) for name in names]
        if not only:
            facts += ask(self._origin_facts, "configuration")
        return Facts("svc_jupyter settings", facts)

    def _origin_facts(self) -> list[tuple[str, str]]:
        """Return the sources of the address and the token; reads the configuration and sends nothing."""
        where = self.session.where()
        address = where.base_url or f"service of this machine, {where.data_dir}"
        token = "set, not shown" if where.token else "that of the service of this machine"
        return [("service", address), ("address from", where.source), (_SECRET, token)]


def service_facts(client: Client) -> Facts:
    """Ask the service about itself and return the main facts."""
    started = time.monotonic()
    account = client.account.get()
    took = time.monotonic() - started
    switched_on = [name for name, on in account.features.model_dump().items() if on]
    facts = [
        ("service", client.base_url),
        ("address from", client.settings.source),
        ("answered in", duration(took)),
        ("version", _version(client)),
        ("account", f"{account.name} ({account.id})"),
        ("you", f"{account.email} ({account.user_id})"),
        ("groups", ", ".join(account.groups) or "none"),
        ("features", ", ".join(sorted(switched_on)) or "none switched on"),
        ("storage", account.storage_url),
        ("commands at once", str(account.concurrent_command_limit)),
    ]
    return Facts("connected", facts)


def _version(client: Client) -> str:
    """Return the versions of client and service; a remote service's version has no call."""
    from importlib.metadata import version

    from svc_jupyter.client.address.embedded import EmbeddedService

    running = EmbeddedService(client.settings.data_dir).find() if client.settings.embedded else None
    of_service = f", service {running.version}" if running is not None else ""
    return f"client {version('svc-jupyter')}{of_service}"


def _shown(value: object) -> str:
    return "not set" if value in (None, "") else str(value)
