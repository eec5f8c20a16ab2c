"""Answers for an editor: completions and descriptions of a session's Python names, and of Spark's tables."""

from __future__ import annotations

import inspect
import re
import rlcompleter
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pyspark.sql import SparkSession

SECONDS = 0.3
"""Limit of an answer: an object whose attributes are slow to list is not completed."""
_MOST = 500
_PYTHON_WORD = re.compile(r"[\w.]*$")
_SQL_WORD = re.compile(r"[\w.`]*$")
_AFTER_FROM = re.compile(r"\b(?:from|join|table|into|update|describe)\s+[\w.`]*$", re.IGNORECASE)
_TABLES = re.compile(r"\b(?:from|join|table|into|update)\s+([\w.`]+)", re.IGNORECASE)
_LONGEST_TEXT = 10_000


class Completion:
    """Looks into one session, between its statements.

    It looks from threads of its own: a call to the driver that is broken off would leave its answer unread. What comes
    too late for one question is there for the next one.
    """

    def __init__(self, spark: SparkSession, names: dict[str, Any]) -> None:
        self._spark = spark
        self._names = names
        self._known: dict[str, Any] = {}
        self._looking: dict[str, threading.Thread] = {}
        self._until = 0.0

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return `matches`, `start` and `end`, or with `inspect` the `text` of a description; soon, or nothing."""
        self._until = time.monotonic() + SECONDS
        code, cursor = str(question["code"]), int(question["cursor"])
        is_sql = question["language"] == "sql"
        if question.get("inspect"):
            key = f"described {code[:cursor]}"
            return {"text": None if is_sql else self._soon(key, lambda: self._described(code, cursor))}
        before = code[:cursor]
        start, matches = self._in_sql(before, code) if is_sql else self._in_python(before)
        return {"matches": matches[:_MOST], "start": start, "end": cursor}

    def _soon(self, key: str, look: Callable[[], Any], *, keeps: bool = False) -> Any:
        """Return what a look finds until the answer is due; with `keeps`, else what the last one found, or None."""
        if len(self._known) > _MOST:
            self._known.clear()
        self._looking = {name: thread for name, thread in self._looking.items() if thread.is_alive()}
        thread = self._looking.get(key)
        if thread is None:

            def find() -> None:
                with suppress(Exception):  # code of a user's, or a name that is still being written
                    self._known[key] = look()

            thread = self._looking[key] = threading.Thread(target=find, name="completion", daemon=True)
            thread.start()
        thread.join(max(0.0, self._until - time.monotonic()))
        return self._known.get(key) if keeps else self._known.pop(key, None)

    def _in_python(self, before: str) -> tuple[int, list[str]]:
        word = _last(_PYTHON_WORD, before)
        completer = rlcompleter.Completer(self._names)
        look = completer.attr_matches if "." in word else completer.global_matches
        found = self._soon(f"python {word}", lambda: look(word)) if word else None
        return len(before) - len(word), sorted({match.rstrip("( ") for match in found or []})

    def _in_sql(self, before: str, code: str) -> tuple[int, list[str]]:
        word = _last(_SQL_WORD, before)
        if _AFTER_FROM.search(before):
            return len(before) - len(word), _beginning(word, self._tables(word))
        columns = [name for table in set(_TABLES.findall(code)) for name in self._columns(table)]
        start, word = len(before) - len(word.rpartition(".")[2]), word.rpartition(".")[2]
        return start, _beginning(word, [*columns, *self._tables("")])

    def _tables(self, word: str) -> list[str]:
        schema, dot, _ = word.rpartition(".")
        catalogue, prefix = self._spark.catalog, f"{schema}{dot}"

        def look() -> list[str]:
            return [f"{prefix}{table.name}" for table in catalogue.listTables(schema or None)]

        tables: list[str] = self._soon(f"tables {prefix}", look, keeps=True) or []
        if dot:
            return tables
        names = self._soon("schemas", lambda: [one.name for one in catalogue.listDatabases()], keeps=True)
        return [*tables, *(names or [])]

    def _columns(self, table: str) -> list[str]:
        return self._soon(f"columns {table}", lambda: list(self._spark.table(table).columns), keeps=True) or []

    def _described(self, code: str, cursor: int) -> str | None:
        word = _last(_PYTHON_WORD, code[:cursor])
        word += re.match(r"\w*", code[cursor:])[0]  # type: ignore[index]
        first, *rest = word.strip(".").split(".")
        if first not in self._names:
            return None
        value = self._names[first]
        for name in rest:
            value = getattr(value, name)
        lines = [f"Type: {type(value).__name__}"]
        with suppress(TypeError, ValueError):
            lines.append(f"Signature: {word}{inspect.signature(value)}")
        if not callable(value) and not inspect.ismodule(value):
            lines.append(f"Value: {value!r}"[:1000])
        lines += ["", inspect.getdoc(value) or ""]
        return "\n".join(lines).rstrip()[:_LONGEST_TEXT]


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[0] if found else ""


def _beginning(word: str, names: list[str]) -> list[str]:
    return sorted({name for name in names if name.lower().startswith(word.lower())})
