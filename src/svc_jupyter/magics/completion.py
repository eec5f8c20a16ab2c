"""Completion of the magics' options and values, through IPython's matchers.

What the service knows (taps, labels, commands) is fetched beside the editor: a completion waits for it a moment at
most, and shows it the next time when it comes later. A completion never starts a service.
"""

from __future__ import annotations

import argparse
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult

from svc_jupyter.magics.background import Background
from svc_jupyter.magics.commands import ACTIONS
from svc_jupyter.magics.decorators import matcher
from svc_jupyter.magics.options import option_names, parser_of
from svc_jupyter.magics.session import Session
from svc_jupyter.magics.settings import SvcMagics

if TYPE_CHECKING:
    from svc_jupyter.client import Client

WAIT_SECONDS = 0.25
"""How long a completion waits for the service; people notice more than 0.3 s."""
FRESH_SECONDS = 15.0
RETRY_SECONDS = 5.0
_RECENT_COMMANDS = 20
_LABEL_COMMANDS = 100
"""How many of the latest commands tell the labels in use."""
_MAGIC_LINE = re.compile(r"^\s*(?:\w[\w.,\s]*=\s*)?%{1,2}(svc_\w+)\s+(?P<line>.*)$")
_STATUS_WORDS = ("waiting", "running", "done", "error", "cancelled")
_SOURCES = ("API", "UI", "SCHEDULED")

Matcher = Callable[[CompletionContext], SimpleMatcherResult]
Fetch = Callable[["Client"], list[str]]


@dataclass
class Known:
    """One kind of name that the service knows, as fetched last."""

    fetch: Fetch
    names: list[str] = field(default_factory=list)
    fetched: float = float("-inf")
    tried: float = float("-inf")
    running: Background[None] | None = None


class ServiceNames:
    """Names that the service knows, at hand for completion. Never raises, never waits long."""

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds = {"taps": Known(_taps), "labels": Known(_labels), "commands": Known(_commands)}

    def of(self, kind: str) -> list[str]:
        """Return the names of a kind (`taps`, `labels`, `commands`) as far as they are known within WAIT_SECONDS."""
        known = self._kinds[kind]
        with self._lock:
            now = self._clock()
            stale = now - known.fetched > FRESH_SECONDS and now - known.tried > RETRY_SECONDS
            if stale and (known.running is None or known.running.wait(0)):
                known.tried = now
                known.running = Background(lambda: self._fetch(known), "completion").start()
            running = known.running
        if running is not None:
            running.wait(WAIT_SECONDS)
        return known.names

    def _fetch(self, known: Known) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            if self._session.reachable():
                known.names = known.fetch(self._session.client())
                known.fetched = self._clock()
        except SvcError:
            return  # a completion has nobody to tell it; the cell itself will


def _taps(client: Client) -> list[str]:
    return sorted(tap.name for tap in client.db_taps.iter())


def _labels(client: Client) -> list[str]:
    records = client.commands.list(per_page=_LABEL_COMMANDS).commands
    return sorted({record.label for record in records if record.label})


def _commands(client: Client) -> list[str]:
    return [str(record.id) for record in client.commands.list(per_page=_RECENT_COMMANDS).commands]


def magic_matcher(magics: dict[str, Callable[..., Any]], names: ServiceNames) -> Matcher:
    """Return the matcher of these magics, by their names without `%`."""

    def svc_magic_matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = _MAGIC_LINE.match(context.text_until_cursor)
        magic = magics.get(found[1]) if found else None
        if found is None or magic is None:
            return {"completions": [], "suppress": False}
        *before, word = re.split(r"\s+", found["line"])
        choices = candidates(found[1], parser_of(magic), before, word, names)
        return answer(choices, word)

    matcher_of_ours: Matcher = matcher("svc_jupyter.magic_matcher", priority=100)(svc_magic_matcher)
    return matcher_of_ours


def answer(choices: Iterable[tuple[str, str]], word: str) -> SimpleMatcherResult:
    """Return the choices that go on from a word, which they replace as a whole."""
    fitting = [SimpleCompletion(text=text, type=kind) for text, kind in choices if text.startswith(word)]
    return {"completions": fitting, "matched_fragment": word, "suppress": bool(fitting), "ordered": True}


def candidates(
    magic: str, parser: argparse.ArgumentParser, before: list[str], word: str, names: ServiceNames
) -> list[tuple[str, str]]:
    """Return the texts that can stand at the cursor, each with its kind.

    `before` are the words of the line before the one at the cursor.
    """
    options = option_names(parser)
    expecting = options.get(before[-1]) if before else None
    if expecting is not None and expecting.nargs != 0:
        return [(text, "value") for text in _values(expecting.dest, expecting, names)]
    if "=" in word and word.startswith("--"):
        spelling = word.partition("=")[0]
        action = options.get(spelling)
        values = _values(action.dest, action, names) if action else []
        return [(f"{spelling}={text}", "value") for text in values]
    positional = [] if word.startswith("-") else _positional(magic, before, options, names)
    repeatable = {spelling for spelling, action in options.items() if isinstance(action, argparse._AppendAction)}
    free = [spelling for spelling in options if spelling not in before or spelling in repeatable]
    return [*((text, "value") for text in positional), *((spelling, "option") for spelling in free)]


def _values(dest: str, action: argparse.Action, names: ServiceNames) -> list[str]:
    """Return the values an option can have."""
    if action.choices:
        return [str(choice) for choice in action.choices]
    match dest:
        case "tap":
            return names.of("taps")
        case "label":
            return names.of("labels")
        case "type":
            from svc_jupyter.api.commands import CommandType

            return [str(kind) for kind in CommandType]
        case "status":
            return list(_STATUS_WORDS)
        case "source":
            return list(_SOURCES)
        case _:
            return []


def _positional(magic: str, before: list[str], options: dict[str, argparse.Action], names: ServiceNames) -> list[str]:
    """Return what the next argument without an option can be."""
    words = _arguments(before, options)
    match magic, words:
        case "svc_command", []:
            return names.of("commands")
        case "svc_command", [_]:
            return list(ACTIONS)
        case "svc_config", []:
            return SvcMagics.names()
        case "svc_config", ["default_tap"]:
            return names.of("taps")
        case "svc_config", ["default_label"]:
            return names.of("labels")
        case _:
            return []


def _arguments(words: list[str], options: dict[str, argparse.Action]) -> list[str]:
    """Return the words that are neither options nor their values."""
    arguments: list[str] = []
    value_follows = False
    for word in words:
        action = options.get(word)
        if not value_follows and action is None and not word.startswith("-"):
            arguments.append(word)
        value_follows = not value_follows and action is not None and action.nargs != 0
    return arguments
