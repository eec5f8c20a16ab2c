"""A run's session on the cluster's session server: paragraphs run there one after the other and share its state."""

from __future__ import annotations

import codecs
import json
import select
import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from svc_jupyter.service.db_taps.statements import NotSeparable
from svc_jupyter.service.kinds.spark.notes.languages import Language, Paragraph
from svc_jupyter.service.kinds.spark.notes.statements import Log, Message, RunFailure, StatementEnd, StatementError
from svc_jupyter.service.kinds.spark.scala_programs import ENDS_ALL, exits
from svc_jupyter.service.kinds.spark.sql_failures import reason_of
from svc_jupyter.service.kinds.spark.sql_parts import sql_parts
from svc_jupyter.service.processes.worker_parent import WORKING_FOLDER
from svc_jupyter.service.runtimes.spark.driver import wire
from svc_jupyter.service.runtimes.spark.driver.statement import (
    ERROR_FILE,
    MESSAGES_FILE,
    OUT_FILE,
    SUMMARY_FILE,
    Statement,
)
from svc_jupyter.service.runtimes.spark.driver.statement import Language as SparkLanguage

_LANGUAGES = {
    Language.PYTHON: SparkLanguage.PYTHON,
    Language.SCALA: SparkLanguage.SCALA,
    Language.SQL: SparkLanguage.SQL,
}
_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 0.2
_CHUNK = 1 << 16
_GONE = "the cluster's session server ended while the note ran; run it again"
LONGEST_TABLE = 100_000


@dataclass(frozen=True, slots=True)
class SessionAddress:
    """The address of a session server, and the name of the run's own session."""

    host: str
    port: int
    secret: str
    session: str
    pool: str | None = None


class SessionLink:
    """Runs paragraphs in a session. Its files are in `folder`; Spark's messages go to `log_file`."""

    def __init__(self, address: SessionAddress, folder: Path, log_file: Path, min_free_bytes: int) -> None:
        self._address = address
        self._folder = folder
        self._log_file = log_file
        self._min_free_bytes = min_free_bytes
        self._count = 0
        try:
            self._socket = socket.create_connection((address.host, address.port), _CONNECT_SECONDS)
        except OSError as error:
            raise RunFailure(f"the cluster's session server does not answer: {error.strerror or error}") from error
        self._socket.settimeout(None)
        self._reader = self._socket.makefile("rb")
        self._challenge = self._answer()["challenge"]

    def close(self) -> None:
        """End the session."""
        try:
            self._ask(call="end_session", session=self._address.session)
        finally:
            self._reader.close()
            self._socket.close()

    def run(self, paragraph: Paragraph, code: str, values: Mapping[str, Any], log: Log) -> StatementEnd:
        """Run a paragraph's program; its printed output goes to the log as it arrives."""
        language = _LANGUAGES.get(paragraph.language)
        if language is None:
            return StatementEnd(
                [], StatementError(f"%{paragraph.language} paragraphs are not supported yet: use %pyspark or %spark")
            )
        if language is SparkLanguage.SCALA and exits(code):
            return StatementEnd([], StatementError(ENDS_ALL))
        try:
            parts = sql_parts(code, {}) if language is SparkLanguage.SQL else []
        except NotSeparable as failure:
            return StatementEnd([], StatementError(failure.message))
        self._count += 1
        folder = self._folder / f"paragraph-{self._count}"
        folder.mkdir(exist_ok=True)
        statement = Statement(
            id=f"{self._address.session}-{self._count}",
            language=language,
            code=code,
            folder=str(folder),
            log=str(self._log_file),
            work=str(self._folder / WORKING_FOLDER),
            parts=parts,
            pool=self._address.pool,
            min_free_bytes=self._min_free_bytes,
            note={"values": dict(values), "limit": _limit(paragraph)},
        )
        with _Tail(folder / OUT_FILE, log) as tail:
            progress = self._ask(call="run", statement=asdict(statement), session=self._address.session)
            while progress["state"] != "ended":
                progress = self._ask(tail, call="wait", id=statement.id, version=progress["version"])
        return _end_of(folder)

    def _ask(self, tail: _Tail | None = None, **call: Any) -> dict[str, Any]:
        try:
            self._socket.sendall(wire.line({**call, "proof": wire.proof(self._address.secret, self._challenge)}))
            while tail is not None and not select.select([self._socket], [], [], _LOOK_SECONDS)[0]:
                tail.follow()
            answer = self._answer()
        except OSError as error:
            raise RunFailure(_GONE) from error
        if "error" in answer:
            raise RunFailure(f"the cluster's session server refused a paragraph: {answer['error']}")
        if answer.get("state") == "unknown":
            raise RunFailure(_GONE)
        return answer

    def _answer(self) -> dict[str, Any]:
        line = self._reader.readline()
        if not line:
            raise RunFailure(_GONE)
        answer: dict[str, Any] = json.loads(line)
        return answer


class _Tail:
    """Passes on text as it is appended to a file."""

    def __init__(self, file: Path, take: Callable[[str], None]) -> None:
        file.touch()
        self._source = file.open("rb")
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._take = take

    def __enter__(self) -> _Tail:
        return self

    def __exit__(self, *_: object) -> None:
        self.follow()
        self._source.close()

    def follow(self) -> None:
        """Pass on the text since the last call."""
        while data := self._source.read(_CHUNK):
            self._take(self._decoder.decode(data))


def _limit(paragraph: Paragraph) -> int | None:
    """Return the row limit of a paragraph's tables, `(limit=…)`, at most what a note can hold."""
    text = paragraph.properties.get("limit", "")
    return min(int(text), LONGEST_TABLE) if text.isdecimal() and len(text) < 20 else None


def _end_of(folder: Path) -> StatementEnd:
    """Return the end of a paragraph from its files."""
    messages = []
    if (folder / MESSAGES_FILE).exists():
        with (folder / MESSAGES_FILE).open(encoding="utf-8") as lines:
            for line in lines:
                stored = json.loads(line)
                rows = folder / stored["rows"] if "rows" in stored else None
                messages.append(Message(stored["type"], stored["data"], rows))
    error, summary = folder / ERROR_FILE, folder / SUMMARY_FILE
    if error.exists():
        stored = json.loads(error.read_text("utf-8"))
        failure: StatementError | None = StatementError(reason_of(stored), stored.get("line"))
    elif summary.exists():
        stored, failure = json.loads(summary.read_text("utf-8")), None
        if not messages and stored.get("message"):
            messages.append(Message("TEXT", f"{stored['message']}\n"))
    else:
        raise RunFailure(_GONE)
    note = stored.get("note") or {}
    return StatementEnd(messages, failure, note.get("forms") or {}, tuple(note.get("calls") or ()))
