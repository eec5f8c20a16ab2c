"""Reading a log while it grows: server-sent events where the service has them, else polling by byte offsets.

`LogReading` holds what both kinds of client need: which call comes next, and what text an answer adds. A log is one
stream of bytes; a character that is cut by the end of an answer is completed by the next one.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError

from svc_jupyter.api import paths
from svc_jupyter.api.events import EventKind, LogPart
from svc_jupyter.client.errors import StatusError, SvcError, UnexpectedAnswer
from svc_jupyter.client.transport.calls import Call

if TYPE_CHECKING:
    from httpx_sse import ServerSentEvent

PLAIN = "text/plain"
EVENT_STREAM = "text/event-stream"
_FIRST_POLL, _LONGEST_POLL, _POLL_GROWTH = 0.1, 5.0, 1.5
_TAIL_BYTES = 64 * 1024
BEYOND_THE_END = 2**53
"""An offset that no log reaches: the answer to it is empty and tells the log's length."""
_NO_SUCH_CALL = frozenset({404, 405, 406})


class LogReading:
    """How far a command's log has been read, in the service's bytes."""

    def __init__(self, command_id: int, offset: int = 0) -> None:
        self.ended = False
        self.events_are_missing = False
        self.answered = False
        """Whether the service answered since somebody set this to False."""
        self.offset = offset
        self._command_id = command_id
        self._other_bytes = 0  # of the log of unfinished work, which other services keep apart
        self._lengths: tuple[str | None, str | None] = (None, None)
        self._position = offset
        self._event_id: str | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._next_poll = _FIRST_POLL
        self._grew = False

    def events_call(self) -> Call:
        """Return the call that opens the stream of events where the last one broke off."""
        headers = (("Last-Event-ID", self._event_id),) if self._event_id is not None else ()
        path = paths.command(self._command_id, "events")
        return Call("GET", path, accept=EVENT_STREAM, headers=headers, stream=True)

    def has_events(self, headers: Mapping[str, str]) -> bool:
        """Tell whether the answer to `events_call` is a stream of events; from then on it is known."""
        self.answered = True
        self.events_are_missing = not headers.get("Content-Type", "").startswith(EVENT_STREAM)
        return not self.events_are_missing

    def take_event(self, event: ServerSentEvent) -> str:
        """Return the text that an event adds to what was read before; sets `ended` at the last one."""
        if event.id:
            self._event_id = event.id
        if event.event == EventKind.END:
            self.ended = True
        if event.event != EventKind.LOG:
            return ""
        try:
            part = LogPart.model_validate_json(event.data)
        except ValidationError:
            raise UnexpectedAnswer(f"an event of command {self._command_id} is no part of a log") from None
        if part.end <= self.offset:
            return ""  # sent again after a break
        seen = max(0, self.offset - part.offset)
        self.offset = part.end
        self._grew = True
        return part.text if not seen else part.text.encode()[seen:].decode("utf-8", "replace")

    def poll_call(self) -> Call:
        """Return the call for what the log has beyond what was read."""
        offsets = {"err_file_processed": self.offset, "tmp_file_processed": self._other_bytes}
        return Call("GET", paths.command(self._command_id, "logs"), offsets, accept=PLAIN, stream=True)

    def begin_poll(self, headers: Mapping[str, str]) -> None:
        """Take the headers of the answer to `poll_call`, before its bytes.

        A service that tells no lengths ignored the offsets too and sends the whole log: what was read is skipped.
        """
        self.answered = True
        self._grew = False
        self._lengths = headers.get("err_length"), headers.get("tmp_length")
        self._position = 0 if self._lengths == (None, None) else self.offset

    def take_bytes(self, data: bytes) -> str:
        """Return the text that a piece of the answer adds. A poll that breaks is taken up where it broke."""
        start, self._position = self._position, self._position + len(data)
        fresh = data[max(0, self.offset - start) :]
        self.offset = max(self.offset, self._position)
        self._grew = self._grew or bool(fresh)
        return self._decoder.decode(fresh)

    def end_poll(self) -> None:
        """Take over the lengths that the service told, once all its bytes are here."""
        self.offset = _length(self._lengths[0], self.offset)
        self._other_bytes = _length(self._lengths[1], self._other_bytes)

    def pause_between_polls(self) -> float:
        """Return the seconds until the next poll: short after news, ever longer without."""
        self._next_poll = _FIRST_POLL if self._grew else min(self._next_poll * _POLL_GROWTH, _LONGEST_POLL)
        self._grew = False
        return self._next_poll

    def finish(self) -> str:
        """Return what is left of a character that the log's end cut off."""
        return self._decoder.decode(b"", final=True)


class Tail:
    """The last lines of a text that goes by, with flat memory."""

    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._parts: deque[str] = deque()
        self._size = 0

    def take(self, text: str) -> None:
        """Let a piece of the text go by."""
        self._parts.append(text)
        self._size += len(text)
        while len(self._parts) > 1 and self._size - len(self._parts[0]) >= _TAIL_BYTES:
            self._size -= len(self._parts.popleft())

    def text(self) -> str:
        """Return the last lines, at most 64 KiB of them; empty ones at the end do not count."""
        return "\n".join("".join(self._parts)[-_TAIL_BYTES:].rstrip().splitlines()[-self._lines :])


def start_of_tail(length: int) -> int:
    """Return from which byte on the last 64 KiB of a log are; 0 when its length is not known."""
    return 0 if length >= BEYOND_THE_END else max(0, length - _TAIL_BYTES)


def events_unavailable(error: SvcError) -> bool:
    """Tell whether a call for events failed because the service has none."""
    return isinstance(error, StatusError) and error.status in _NO_SUCH_CALL


def _length(text: str | None, known: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else known
