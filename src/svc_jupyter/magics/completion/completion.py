"""Completion of the magics' actions, options and values, through IPython's matchers."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zoneinfo import available_timezones

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult

from svc_jupyter.api.status_words import WORDS_OF_SOURCES, WORDS_OF_TYPES
from svc_jupyter.magics.arguments.decorators import matcher
from svc_jupyter.magics.arguments.options import MagicMethod, option_names, parser_of
from svc_jupyter.magics.clusters.clusters import DEFAULT_LABEL, VERBS
from svc_jupyter.magics.commands.hadoop import SUB_COMMANDS
from svc_jupyter.magics.commands.history import ACTIONS
from svc_jupyter.magics.completion.service_names import ServiceNames
from svc_jupyter.magics.session.session import SvcMagics

_MAGIC_LINE = re.compile(r"^\s*(?:\w[\w.,\s]*=\s*)?%{1,2}(svc_\w+)\s+(?P<line>.*)$")
_STATUS_WORDS = ("waiting", "running", "done", "failed", "cancelled")
_NAMES_OF = {
    "tap": "taps",
    "label": "labels",
    "pool": "pools",
    "channel": "channels",
    "user": "users",
    "group": "groups",
}
"""Options whose values are names that the service knows."""

Matcher = Callable[[CompletionContext], SimpleMatcherResult]
Actions = Mapping[str, Mapping[str, MagicMethod]]


def magic_matcher(
    magics: dict[str, Callable[..., Any]], names: ServiceNames, actions: Actions | None = None
) -> Matcher:
    """Return the matcher of these magics, given without `%`; `actions` are those of magics that have some."""
    actions = actions or {}

    def svc_magic_matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = _MAGIC_LINE.match(context.text_until_cursor)
        magic = magics.get(found[1]) if found else None
        if found is None or magic is None:
            return {"completions": [], "suppress": False}
        *before, word = re.split(r"\s+", found["line"])
        if of_magic := actions.get(found[1]):
            above_a_cell = context.text_until_cursor.lstrip().startswith("%%")
            return answer(action_candidates(found[1], of_magic, before, word, names, above_a_cell=above_a_cell), word)
        choices = candidates(found[1], parser_of(magic), before, word, names)
        return answer(choices, word)

    matcher_of_ours: Matcher = matcher("svc_jupyter.magic_matcher", priority=100)(svc_magic_matcher)
    return matcher_of_ours


def answer(choices: Iterable[tuple[str, str]], word: str) -> SimpleMatcherResult:
    """Return the choices that complete a word; a choice replaces the whole word."""
    fitting = [SimpleCompletion(text=text, type=kind) for text, kind in choices if text.startswith(word)]
    return {"completions": fitting, "matched_fragment": word, "suppress": bool(fitting), "ordered": True}


def action_candidates(
    magic: str,
    actions: Mapping[str, MagicMethod],
    before: list[str],
    word: str,
    names: ServiceNames,
    *,
    above_a_cell: bool = False,
) -> list[tuple[str, str]]:
    """Return the completions at the cursor in the line of a magic with actions."""
    if before and before[0] in actions:
        action = before[0]
        return candidates(f"{magic} {action}", parser_of(actions[action]), before[1:], word, names)
    if above_a_cell and "create" in actions and (before or word.startswith("-")):
        return candidates(f"{magic} create", parser_of(actions["create"]), before, word, names)
    return [] if before else [(name, "action") for name in actions]


def candidates(
    magic: str, parser: argparse.ArgumentParser, before: list[str], word: str, names: ServiceNames
) -> list[tuple[str, str]]:
    """Return the completions at the cursor, each with its kind.

    `before` are the words of the line before the current one.
    """
    options = option_names(parser)
    expecting = options.get(before[-1]) if before else None
    if expecting is not None and expecting.nargs != 0:
        kind = _NAMES_OF.get(expecting.dest)
        values = _values(expecting.dest, expecting, names, word)
        return [(text, (names.word_on(kind, text) if kind else None) or "value") for text in values]
    if "=" in word and word.startswith("--"):
        spelling, _, begun = word.partition("=")
        action = options.get(spelling)
        values = _values(action.dest, action, names, begun) if action else []
        return [(f"{spelling}={text}", "value") for text in values]
    positional = [] if word.startswith("-") else _positional(magic, before, parser, names, word)
    repeatable = {spelling for spelling, action in options.items() if isinstance(action, argparse._AppendAction)}
    free = [spelling for spelling in options if spelling not in before or spelling in repeatable]
    return [*((text, "value") for text in positional), *((spelling, "option") for spelling in free)]


def _values(dest: str, action: argparse.Action, names: ServiceNames, word: str) -> list[str]:
    """Return the possible values of an option; `word` is the part already typed."""
    if action.choices:
        return [str(choice) for choice in action.choices]
    if dest in _NAMES_OF:
        return names.of(_NAMES_OF[dest])
    match dest:
        case "type":
            return [shlex.quote(word) for word in WORDS_OF_TYPES.values()]
        case "status":
            return list(_STATUS_WORDS)
        case "tz":
            return sorted(available_timezones())
        case "every" | "interval":
            return [shlex.quote(f"1 {unit}") for unit in ("day", "hour", "minute", "week", "month")]
        case "source":
            return list(WORDS_OF_SOURCES.values())
        case "folder":
            return names.locations(word)
        case "action":
            from svc_jupyter.api.object_policies import CLUSTER_ACTIONS

            return [*CLUSTER_ACTIONS, "all"]
        case _:
            return []


def _positional(
    magic: str, before: list[str], parser: argparse.ArgumentParser, names: ServiceNames, word: str
) -> list[str]:
    """Return the completions of the next positional argument."""
    words = _arguments(before, option_names(parser))
    takes = {action.dest for action in parser._actions if not action.option_strings}
    match magic, words:
        case "svc_command" | "svc_attach", []:
            return names.of("commands")
        case "svc_command", [_]:
            return list(ACTIONS)
        case "svc_config", words:
            return _of_setting(words, names)
        case "svc_cluster", words:
            return _of_cluster(words, names)
        case "svc_table" | "svc_sensor", []:
            return names.of("tables")
        case "svc_hadoop", []:
            return list(SUB_COMMANDS)
        case _, [] if "schedule" in takes:
            return names.of("schedules")
        case _, words if magic.partition(" ")[0] in ("svc_folders", "svc_notes", "svc_policy"):
            return _in_workspace(words, parser, names, word)
        case _:
            return []


def _of_setting(words: list[str], names: ServiceNames) -> list[str]:
    """Return the completions of the next word of `%svc_config`."""
    match words:
        case []:
            return SvcMagics.names()
        case ["default_tap"]:
            return names.of("taps")
        case ["default_label"]:
            return names.of("labels")
        case ["default_time_zone"]:
            return sorted(available_timezones())
        case _:
            return []


def _of_cluster(words: list[str], names: ServiceNames) -> list[str]:
    """Return the completions of the next word of `%svc_cluster`."""
    match words:
        case []:
            return [*names.of("labels"), *VERBS]
        case ["remove"]:
            return names.workers(DEFAULT_LABEL)
        case [cluster, "remove"]:
            return names.workers(cluster)
        case [cluster] if cluster not in VERBS:
            return list(VERBS)
        case _:
            return []


def _in_workspace(words: list[str], parser: argparse.ArgumentParser, names: ServiceNames, word: str) -> list[str]:
    """Return the completions of the next argument of a magic for folders, notes or policies."""
    places = [action.dest for action in parser._actions if not action.option_strings]
    match places[len(words)] if len(words) < len(places) else None, words:
        case "folder" | "destination", _:
            return names.locations(word)
        case "note", _:
            return names.locations(word, notes=True)
        case "kind", _:
            from svc_jupyter.magics.policies.objects import kinds

            return kinds()
        case "object", ["schedule" | "scheduler"]:
            return names.of("schedules")
        case "object", ["cluster"]:
            return names.of("labels")
        case "object", ["folder" | "note" as kind]:
            return names.locations(word, notes=kind == "note")
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
