"""What a room of the service adds to the application, and how a route gets a part of a room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request

AnyPart = TypeVar("AnyPart")


class Working(Protocol):
    """A part that starts and stops with the service; it may be stopped without a start."""

    async def start(self) -> None:
        """Start; raises when it cannot work."""
        ...

    async def stop(self) -> None:
        """Stop, whether it was started or not."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """A room of the application: its parts, its routes, and its work while the service runs."""

    parts: Sequence[object] = ()
    """The parts for routes, each found by its type."""
    routers: Sequence[APIRouter] = ()
    working: Sequence[Working] = ()
    """The parts that start with the service, in this order; they stop in reverse order."""
    closing: Sequence[Callable[[], Awaitable[None] | None]] = ()
    """Called when the service stops, last one first, after the room's working parts have stopped."""
    sweeping: Sequence[Callable[[], Awaitable[object]]] = ()
    """Called once an hour to remove old data."""
    is_needed: Callable[[], Awaitable[bool]] | None = None
    """Returns whether an idle service must keep running for this room."""


class Parts:
    """Parts of the service by their types."""

    def __init__(self, parts: Iterable[object]) -> None:
        self._parts: dict[type, Any] = {type(part): part for part in parts}

    def __getitem__(self, kind: type[AnyPart]) -> AnyPart:
        """Return the part of exactly this type. Raises `KeyError`."""
        part: AnyPart = self._parts[kind]
        return part


def part_of(app: FastAPI, kind: type[AnyPart]) -> AnyPart:
    """Return the application's part of a type."""
    parts: Parts = app.state.parts
    return parts[kind]


def part(kind: type[AnyPart]) -> Any:
    """Return a dependency that gives a route the part of a type.

    `AuditDep = Annotated[Audit, part(Audit)]`.
    """

    async def of_request(request: Request) -> AnyPart:  # async: a plain function would cost a thread hop
        return part_of(request.app, kind)

    return Depends(of_request)
