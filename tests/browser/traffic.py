"""What a page sends and receives, and what goes wrong in it that is ours.

A test fails for what the extension does wrong, and for nothing that others report in the same console. Ours are:

- An answer of `svc-jupyter/api` with a status of 400 or more, and a request there, or for a file of the extension, that
  got no answer. The page must have sent it for this test. A request that is cancelled by the page itself, as when it is
  left, ends with `net::ERR_ABORTED` and is no failure.
- An uncaught exception or a rejected promise with one of the extension's files in its stack. Where the stack names no
  file of anybody, it is ours, too.
- An error in the console that the extension's files write, or whose text names them, as a stack does: React's errors,
  and those that Lumino and Lab catch from handlers, plugins and commands.

The browser's lines in the console are not read: those of failed requests do not say which request it was, and so may be
of the test before. Neither are those of Lab about its own workspaces, kernels, themes and widgets: some appear only
when the machine is slow.
"""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Page, Request, Response, WebSocket

_API = "/svc-jupyter/api/"
_FILES = "/svc-jupyter-labextension/"
_OURS = "svc-jupyter"
"""In the addresses of the extension's files, in the ids of its plugins and commands, and in nobody else's."""
_BY_THE_BROWSER = "Failed to load resource"
_FRAME = re.compile(r"\bhttps?://\S+:\d+")
"""A file and a line of it, in a stack."""
_OF_LAB = "Canceled future for create_subshell_request"
"""Lab asks each kernel for a thread of its own for widgets; one that ends meanwhile rejects that, without a stack."""
_LONG_STACKS = "Error.stackTraceLimit = 200"
"""Ten frames, as by default, may all be of React or Lumino."""


class Traffic:
    """Records a page's requests, responses, web sockets and errors, from when it is made."""

    def __init__(self, page: Page) -> None:
        self.requests: list[Request] = []
        self.responses: list[Response] = []
        self.frames: list[str | bytes] = []
        self.errors: list[str] = []
        self._expected: list[str] = []
        self._page = page
        self._takers: dict[Any, Any] = {
            "request": self._take_request,
            "response": self._take_response,
            "requestfailed": self._take_failure,
            "websocket": self._follow,
            "console": self._take_message,
            "pageerror": self._take_error,
        }
        for event, take in self._takers.items():
            page.on(event, take)
        page.add_init_script(_LONG_STACKS)

    def stop(self) -> None:
        """Record nothing more, so that another test can use the page."""
        for event, take in self._takers.items():
            self._page.remove_listener(event, take)

    def expect_errors(self, pattern: str) -> None:
        """Take errors that match a pattern as part of the test."""
        self._expected.append(pattern)

    @property
    def unexpected_errors(self) -> list[str]:
        """The errors of ours that no test has said it expects."""
        return [error for error in self.errors if not any(re.search(known, error) for known in self._expected)]

    def to_the_extension(self, path: str = "") -> list[Request]:
        """The requests to the server extension whose path below `svc-jupyter/api/` begins with `path`."""
        return [request for request in self.requests if f"{_API}{path}" in request.url]

    # Playwright marks the functions it is given, which a list's own `append` does not allow.
    def _take_request(self, request: Request) -> None:
        self.requests.append(request)

    def _take_response(self, response: Response) -> None:
        self.responses.append(response)
        if response.status >= 400 and _API in response.url and response.request in self.requests:
            self.errors.append(f"{response.status} {response.status_text}: {response.request.method} {response.url}")

    def _take_failure(self, request: Request) -> None:
        is_ours = (_API in request.url or _FILES in request.url) and request in self.requests
        if is_ours and request.failure != "net::ERR_ABORTED":
            self.errors.append(f"{request.failure}: {request.method} {request.url}")

    def _take_frame(self, frame: str | bytes) -> None:
        self.frames.append(frame)

    def _follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._take_frame)
        socket.on("framesent", self._take_frame)

    def _take_error(self, error: Error) -> None:
        told = error.stack or error.message
        if _OURS in told or not (_FRAME.search(told) or _OF_LAB in told):
            self.errors.append(f"uncaught: {told}")

    def _take_message(self, message: ConsoleMessage) -> None:
        told = f"{message.text} ({message.location.get('url', '')})"
        if message.type == "error" and _OURS in told and not message.text.startswith(_BY_THE_BROWSER):
            self.errors.append(told)
