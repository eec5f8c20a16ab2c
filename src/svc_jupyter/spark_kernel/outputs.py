"""What a running cell prints and shows, as it comes."""

from __future__ import annotations

import html
import re
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.display.rendering import limit_display, publish
from svc_jupyter.magics.session.session import Background
from svc_jupyter.magics.spark_notes import frame_of_table

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from svc_jupyter.api.sessions import CellMessage
    from svc_jupyter.client import Command

_PICTURE = re.compile(r'<img alt="figure" src="data:image/png;base64,([\w+/=]+)">\s*')
_TAG = re.compile(r"<[^>]*>")
_FIRST_PAUSE, _LONGEST_PAUSE, _PAUSE_GROWTH = 0.1, 0.5, 1.3
"""Seconds between two looks at a running cell."""


class Outputs:
    """Shows the messages of one command, each once, in their order."""

    def __init__(self, command: Command, shell: InteractiveShell, on_session: Callable[[str], None]) -> None:
        """`on_session` receives the key of the session's names."""
        self._command = command
        self._shell = shell
        self._on_session = on_session
        self._offset = 0
        self._is_over = threading.Event()
        self.are_known = True
        """Whether the service keeps messages; without, the text of the result is all there is."""
        self._following = Background(self._follow, "outputs").start()

    def finish(self) -> None:
        """Show the rest, once the command has ended."""
        self._is_over.set()
        self._following.outcome()
        while self.are_known and self._show_next():
            pass

    def _follow(self) -> None:
        pause = _FIRST_PAUSE
        while self.are_known and not self._is_over.wait(pause):
            pause = _FIRST_PAUSE if self._show_next() else min(pause * _PAUSE_GROWTH, _LONGEST_PAUSE)

    def _show_next(self) -> bool:
        """Show the messages since the last call; return whether there were any."""
        from svc_jupyter.client.errors import ConnectionFailed, NotFound, SvcError

        try:
            found = self._command.messages(self._offset)
        except NotFound:
            self.are_known = False
            return False
        except ConnectionFailed:
            return False  # the wait for the command reports it
        except SvcError:
            self.are_known = False
            return False
        self._offset = found.end
        for message in found.messages:
            self._show(message)
        return bool(found.messages)

    def _show(self, message: CellMessage) -> None:
        match message.type:
            case "SESSION":
                self._on_session(message.data)
            case "TABLE":
                frame = frame_of_table(message.data)
                limit_display(frame, None, len(frame), self._shell)
                publish(frame, self._shell)
            case "HTML":
                self._shell.display_pub.publish(displayed_html(message.data))
            case _:
                sys.stdout.write(message.data)
                sys.stdout.flush()


def displayed_html(text: str) -> dict[str, Any]:
    """Return the representations of HTML for a front end; a figure is a picture."""
    if picture := _PICTURE.fullmatch(text):
        return {"image/png": picture[1], "text/plain": "<figure>"}
    return {"text/html": text, "text/plain": html.unescape(_TAG.sub("", text)).strip()}
