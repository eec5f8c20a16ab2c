"""Commands: submit, find, cancel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CancelAnswer, CommandList, CommandRecord, CommandType, CommandWithRows
from svc_jupyter.api.events import LogPart
from svc_jupyter.client import async_handles, handles
from svc_jupyter.client.async_handles import AsyncCommand
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.handles import Command
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.waiting import LONGEST_HOLD
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

Macros = Mapping[str, str] | Sequence[Mapping[str, str]]


class CommonParameters(TypedDict, total=False):
    """What every command type takes.

    `timeout` is in seconds, `retry_delay` in minutes. `tags` is the text `[a,b]` or a sequence of tags; `macros` maps
    names to JavaScript expressions, in order.
    """

    name: str | None
    label: str | None
    tags: str | Sequence[str] | None
    macros: Macros | None
    timeout: int | None
    retry: int | None
    retry_delay: int | None
    can_notify: bool | None
    pool: str | None


class CommandFilters(TypedDict, total=False):
    """What a list of commands can be narrowed to; several values of one filter are comma-separated or a sequence.

    Without dates a service looks at the last 30 days; without `all_users` at the caller's own commands.
    """

    status: str
    command_type: str | Sequence[str]
    command_source: str | Sequence[str]
    name: str
    tags: str
    label: str
    start_date: str
    end_date: str
    all_users: bool


class _CommandFlows:
    """What both kinds of client say to the service about commands."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def submit(
        self, command_type: str, fields: Mapping[str, Any], idempotency_key: str | None, *, hold: int = 0
    ) -> Flow[CommandRecord]:
        """Submit a command. With `hold` (seconds) our service may answer with the end, and few rows."""
        hold = hold if self.link.extended else 0
        call = Call(
            "POST",
            _SUBMISSION_PATHS.get(command_type, paths.api("commands/")),
            body=submission(command_type, fields),
            headers=idempotency(idempotency_key or str(uuid4())),
            params={"wait": hold, "arrow": True} if hold else None,
            hold=hold,
        )
        return self.link.learn_from((yield from fetch(self.link, call, CommandWithRows if hold else CommandRecord)))

    def get(self, command_id: int) -> Flow[CommandRecord]:
        record = yield from fetch(self.link, Call("GET", paths.command(command_id)), CommandRecord)
        return self.link.learn_from(record)

    def page(self, page: int, per_page: int, filters: CommandFilters) -> Flow[CommandList]:
        params: dict[str, Any] = {"page": page, "per_page": per_page, **filters}
        if "all_users" in params:
            params["all_users"] = int(params["all_users"])
        return fetch(self.link, Call("GET", paths.api("commands"), params), CommandList)

    def cancel(self, command_id: int) -> Flow[CancelAnswer]:
        return fetch(self.link, Call("PUT", paths.command(command_id), body={"status": "kill"}), CancelAnswer)


_SUBMISSION_PATHS = {CommandType.SPARK.value: paths.api("commands")}
"""Other services may want the others with a trailing slash; one of ours takes both forms."""


def submission(command_type: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a submission."""
    return {"command_type": str(command_type), **wire_form(fields)}


def wire_form(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as they cross the wire: what is None is left out, tags and macros are brought to its form."""
    body = {name: value for name, value in fields.items() if value is not None}
    tags, macros = body.get("tags"), body.get("macros")
    if tags is not None and not isinstance(tags, str):
        body["tags"] = _tags_text(tags)
    if isinstance(macros, Mapping):
        body["macros"] = [{name: expression} for name, expression in macros.items()]
    return body


def _tags_text(tags: Sequence[str]) -> str:
    if broken := [tag for tag in tags if set(tag) & set("[],")]:
        raise ValueError(f"a tag must not hold a comma or a square bracket: {broken[0]!r}")
    return f"[{','.join(tags)}]"


class Commands:
    """Commands, as `client.commands`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _CommandFlows(client._link)

    def submit(
        self,
        command_type: str,
        *,
        idempotency_key: str | None = None,
        name: str | None = None,
        label: str | None = None,
        tags: str | Sequence[str] | None = None,
        macros: Macros | None = None,
        timeout: int | None = None,
        retry: int | None = None,
        retry_delay: int | None = None,
        can_notify: bool | None = None,
        pool: str | None = None,
        **fields: Any,
    ) -> Command:
        """Submit a command and return its handle at once.

        `fields` are those of the command type, as in `submit("ShellCommand", inline="echo hi")` or
        `submit("DbTapQueryCommand", db_tap_id=7, query="select 1")`; `timeout` is in seconds, `retry_delay` in
        minutes, `tags` the text `[a,b]` or a sequence, `macros` a mapping of names to JavaScript expressions. The same
        `idempotency_key` within 24 hours returns the same command. Raises Invalid when it cannot be created.
        """
        common: CommonParameters = {
            "name": name,
            "label": label,
            "tags": tags,
            "macros": macros,
            "timeout": timeout,
            "retry": retry,
            "retry_delay": retry_delay,
            "can_notify": can_notify,
            "pool": pool,
        }
        record = self._client._run(self._flows.submit(command_type, {**common, **fields}, idempotency_key))
        return Command(self._client, record)

    def run(self, command_type: str, *, idempotency_key: str | None = None, **fields: Any) -> Command:
        """Submit a command and wait until it is done, as `submit(...).wait()` does, in one call for a short command.

        The arguments are those of `submit`, what it raises is what both raise.
        """
        flow = self._flows.submit(command_type, fields, idempotency_key, hold=LONGEST_HOLD)
        return Command(self._client, self._client._run(flow)).wait()

    def get(self, command_id: int) -> Command:
        """Return the handle of a command, with its record as of now; NotFound when there is none with this id."""
        return Command(self._client, self._client._run(self._flows.get(command_id)))

    def list(self, *, page: int = 1, per_page: int = 10, **filters: Unpack[CommandFilters]) -> CommandList:
        """Return one page of records, newest first."""
        return self._client._run(self._flows.page(page, per_page, filters))

    def iter(self, **filters: Unpack[CommandFilters]) -> Iterator[CommandRecord]:
        """Yield all records, newest first, a page at a time."""
        pages: Pages[CommandRecord] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE, **filters)
            yield from pages.take(listing.commands, listing.paging_info)

    def logs(self, command_id: int, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` on, as far as it is written; `end` is the offset to go on from."""
        return handles.log_part(self._client, command_id, offset)

    def cancel(self, command_id: int) -> CancelAnswer:
        """Ask for a command's end; the answer tells whether that took effect."""
        return self._client._run(self._flows.cancel(command_id))


class AsyncCommands:
    """Commands, as `client.commands`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _CommandFlows(client._link)

    async def submit(
        self,
        command_type: str,
        *,
        idempotency_key: str | None = None,
        name: str | None = None,
        label: str | None = None,
        tags: str | Sequence[str] | None = None,
        macros: Macros | None = None,
        timeout: int | None = None,  # noqa: ASYNC109  the command's, kept by the service
        retry: int | None = None,
        retry_delay: int | None = None,
        can_notify: bool | None = None,
        pool: str | None = None,
        **fields: Any,
    ) -> AsyncCommand:
        """Submit a command and return its handle at once; the arguments are those of `Commands.submit`."""
        common: CommonParameters = {
            "name": name,
            "label": label,
            "tags": tags,
            "macros": macros,
            "timeout": timeout,
            "retry": retry,
            "retry_delay": retry_delay,
            "can_notify": can_notify,
            "pool": pool,
        }
        record = await self._client._run(self._flows.submit(command_type, {**common, **fields}, idempotency_key))
        return AsyncCommand(self._client, record)

    async def run(self, command_type: str, *, idempotency_key: str | None = None, **fields: Any) -> AsyncCommand:
        """Submit a command and wait until it is done; the arguments are those of `submit`."""
        flow = self._flows.submit(command_type, fields, idempotency_key, hold=LONGEST_HOLD)
        return await AsyncCommand(self._client, await self._client._run(flow)).wait()

    async def get(self, command_id: int) -> AsyncCommand:
        """Return the handle of a command, with its record as of now; NotFound when there is none with this id."""
        return AsyncCommand(self._client, await self._client._run(self._flows.get(command_id)))

    async def list(self, *, page: int = 1, per_page: int = 10, **filters: Unpack[CommandFilters]) -> CommandList:
        """Return one page of records, newest first."""
        return await self._client._run(self._flows.page(page, per_page, filters))

    async def iter(self, **filters: Unpack[CommandFilters]) -> AsyncIterator[CommandRecord]:
        """Yield all records, newest first, a page at a time."""
        pages: Pages[CommandRecord] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE, **filters)
            for record in pages.take(listing.commands, listing.paging_info):
                yield record

    async def logs(self, command_id: int, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` on, as far as it is written; `end` is the offset to go on from."""
        return await async_handles.log_part(self._client, command_id, offset)

    async def cancel(self, command_id: int) -> CancelAnswer:
        """Ask for a command's end; the answer tells whether that took effect."""
        return await self._client._run(self._flows.cancel(command_id))
