"""Read a log while it grows: server-sent events if the service has them, else polling by byte offsets.

`LogReading` holds what both clients need: the next call, and the text that an answer adds. A log is one stream of
bytes; a character that is cut at the end of an answer is completed by the next answer.
"""

from __future__ import annotations

import codecs
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError

from svc_jupyter.api import paths
from svc_jupyter.api.events import EventKind, LogPart
from svc_jupyter.client.errors import StatusError, SvcError, UnexpectedAnswer
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.terminal_text import last_state, plain

if TYPE_CHECKING:
    from httpx_sse import ServerSentEvent

PLAIN = "text/plain"
EVENT_STREAM = "text/event-stream"
_FIRST_POLL, _LONGEST_POLL, _POLL_GROWTH = 0.1, 5.0, 1.5
_TAIL_BYTES = 64 * 1024
FLOOD_SECONDS = 0.25
_FLOOD_CHARACTERS = 256 * 1024
"""Text that may arrive in `FLOOD_SECONDS`; nobody reads more than that."""
_LONGEST_LINE = 300
BEYOND_THE_END = 2**53
"""An offset beyond the end of any log: the answer is empty and has the log's length."""
_NO_SUCH_CALL = frozenset({404, 405, 406})


class LogReading:
    """The reading position in a command's log, in bytes."""

    def __init__(self, command_id: int, offset: int = 0) -> None:
        self.ended = False
        self.events_are_missing = False
        self.answered = False
        """Whether the service has answered since the caller reset this to False."""
        self.offset = offset
        self.length: int | None = None
        """The length of the whole log, of a service that gives it."""
        self._command_id = command_id
        self._other_bytes = 0  # of the log of unfinished work, which other services keep separately
        self._asked_from = offset
        self._lengths: tuple[int | None, int] = (None, 0)
        self._position = offset
        self._event_id: str | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._next_poll = _FIRST_POLL
        self._grew = False

    def events_call(self) -> Call:
        """Return the call that opens the event stream after the last event received."""
        seen = self._event_id or (str(self.offset) if self.offset else None)  # an event's id is a position in the log
        headers = (("Last-Event-ID", seen),) if seen is not None else ()
        path = paths.command(self._command_id, "events")
        return Call("GET", path, accept=EVENT_STREAM, headers=headers, stream=True)

    def has_events(self, headers: Mapping[str, str]) -> bool:
        """Return whether the answer to `events_call` is an event stream, and remember it."""
        self.answered = True
        self.events_are_missing = not headers.get("Content-Type", "").startswith(EVENT_STREAM)
        return not self.events_are_missing

    def take_event(self, event: ServerSentEvent) -> str:
        """Return the text that an event adds; sets `ended` at the last event."""
        if event.id:
            self._event_id = event.id
        if event.event == EventKind.END:
            self.ended = True
        if event.event != EventKind.LOG:
            return ""
        try:
            part = LogPart.model_validate_json(event.data)
        except ValidationError:
            raise UnexpectedAnswer(f"an event of command {self._command_id} is not part of a log") from None
        if part.end <= self.offset:
            return ""  # sent again after a break
        seen = max(0, self.offset - part.offset)
        self.offset = part.end
        self._grew = True
        return part.text if not seen else part.text.encode()[seen:].decode("utf-8", "replace")

    def poll_call(self) -> Call:
        """Return the call for the unread part of the log."""
        offsets = {"err_file_processed": self.offset, "tmp_file_processed": self._other_bytes}
        return Call("GET", paths.command(self._command_id, "logs"), offsets, accept=PLAIN, stream=True)

    def begin_poll(self, headers: Mapping[str, str]) -> None:
        """Process the headers of the answer to `poll_call`, before its bytes.

        A service that reports no lengths ignores the offsets too and sends the whole log: skip what was already read.
        The lengths are of what follows the offsets; work that has ended is sent again, in the other log.
        """
        self.answered = True
        self._grew = False
        self.length = _length(headers.get("log_length"))
        added = _length(headers.get("err_length"))
        self._lengths = added, _length(headers.get("tmp_length")) or 0
        self._asked_from = self.offset
        self._position = 0 if added is None else self.offset - (self._other_bytes if added else 0)

    def take_bytes(self, data: bytes) -> str:
        """Return the text that a chunk of the answer adds. After a broken poll, reading continues where it stopped."""
        start, self._position = self._position, self._position + len(data)
        fresh = data[max(0, self.offset - start) :]
        self.offset = max(self.offset, self._position)
        self._grew = self._grew or bool(fresh)
        return self._decoder.decode(fresh)

    def end_poll(self) -> None:
        """Advance by the lengths that the service reported, once all bytes have arrived."""
        added, others = self._lengths
        if added is not None:
            self.offset = self._asked_from + added
            self._other_bytes = others if added else self._other_bytes + others

    def pause_between_polls(self) -> float:
        """Return the seconds until the next poll: short after new text, increasing otherwise."""
        self._next_poll = _FIRST_POLL if self._grew else min(self._next_poll * _POLL_GROWTH, _LONGEST_POLL)
        self._grew = False
        return self._next_poll

    def finish(self) -> str:
        """Return the remainder of a character that the log's end cut off."""
        return self._decoder.decode(b"", final=True)


class Tail:
    """The last lines of a streamed text, in constant memory."""

    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._parts: deque[str] = deque()
        self._size = 0

    def take(self, text: str) -> None:
        """Add a piece of the text."""
        self._parts.append(text)
        self._size += len(text)
        while len(self._parts) > 1 and self._size - len(self._parts[0]) >= _TAIL_BYTES:
            self._size -= len(self._parts.popleft())

    def whole(self) -> str:
        """Return all that is kept, at most 64 KiB."""
        return "".join(self._parts)[-_TAIL_BYTES:]

    def text(self) -> str:
        """Return the last lines, at most 64 KiB; of an overwritten one its last state, and no empty ones at the end."""
        return "\n".join(last_state(line) for line in self.whole().rstrip().split("\n")[-self._lines :])


class LiveTail:
    """The last lines of a log for a display: as a terminal would show them, and only as many as it can follow."""

    def __init__(self, lines: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._tail = Tail(lines)
        self._clock = clock
        self._since = clock()
        self._taken = 0

    @property
    def is_flooded(self) -> bool:
        """Whether more text has arrived than is worth reading: the reader then goes on at the log's end."""
        return self._taken > _FLOOD_CHARACTERS

    def take(self, text: str) -> None:
        """Add a piece of the text."""
        now = self._clock()
        if now - self._since > FLOOD_SECONDS:
            self._since, self._taken = now, 0
        self._taken += len(text)
        self._tail.take(text)

    def skip(self) -> None:
        """Forget what has been read: the next piece does not follow it."""
        self._tail = Tail(self._lines)
        self._since, self._taken = self._clock(), 0

    def lines(self) -> list[str]:
        """Return the last lines without colours; of a line that was overwritten, its last state."""
        return lines_of_tail(self._tail.whole(), self._lines)


def lines_of_tail(text: str, count: int) -> list[str]:
    """Return the last lines of a log as a terminal shows them, each cut after 300 characters; none if all are empty."""
    lines = [plain(last_state(line))[:_LONGEST_LINE] for line in text.rstrip("\n").split("\n")[-count:]]
    return lines if any(lines) else []


def start_of_tail(length: int | None) -> int:
    """Return the byte offset of a log's last 64 KiB; 0 when its length is unknown."""
    return max(0, (length or 0) - _TAIL_BYTES)


def events_unavailable(error: SvcError) -> bool:
    """Return whether a call for events failed because the service has none."""
    return isinstance(error, StatusError) and error.status in _NO_SUCH_CALL


def _length(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
