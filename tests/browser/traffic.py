"""What a page sends, receives and complains of."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Page, Request, Response, WebSocket

_OF_LAB = (
    # A workspace or a checkpoint that is not there yet is asked for with a 404 as its answer.
    r"404.*/(lab/api/workspaces|api/contents)/",
)
"""What Lab itself reports as an error and means nothing."""


class Traffic:
    """Records a page's requests, responses, web sockets and errors, from when it is made."""

    def __init__(self, page: Page) -> None:
        self.requests: list[Request] = []
        self.responses: list[Response] = []
        self.frames: list[str | bytes] = []
        self.errors: list[str] = []
        self._expected: list[str] = list(_OF_LAB)
        self._page = page
        self._takers: dict[Any, Any] = {
            "request": self._take_request,
            "response": self._take_response,
            "websocket": self._follow,
            "console": self._take_message,
            "pageerror": self._take_error,
        }
        for event, take in self._takers.items():
            page.on(event, take)

    def stop(self) -> None:
        """Record nothing more, so that another test can use the page."""
        for event, take in self._takers.items():
            self._page.remove_listener(event, take)

    def expect_errors(self, pattern: str) -> None:
        """Take errors that match a pattern as part of the test."""
        self._expected.append(pattern)

    @property
    def unexpected_errors(self) -> list[str]:
        """The errors in the console and the uncaught ones that no test has said it expects."""
        return [error for error in self.errors if not any(re.search(known, error) for known in self._expected)]

    def to_the_extension(self, path: str = "") -> list[Request]:
        """The requests to the server extension whose path below `svc-jupyter/api/` begins with `path`."""
        return [request for request in self.requests if f"/svc-jupyter/api/{path}" in request.url]

    # Playwright marks the functions it is given, which a list's own `append` does not allow.
    def _take_request(self, request: Request) -> None:
        self.requests.append(request)

    def _take_response(self, response: Response) -> None:
        self.responses.append(response)

    def _take_frame(self, frame: str | bytes) -> None:
        self.frames.append(frame)

    def _follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._take_frame)
        socket.on("framesent", self._take_frame)

    def _take_error(self, error: Error) -> None:
        self.errors.append(f"uncaught: {error.stack or error.message}")

    def _take_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")
