"""One run of a note inside its process: from the first paragraph to the last, or to the first that fails."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from svc_jupyter.files import write_whole
from svc_jupyter.forms.filling import filled_markdown, filled_script
from svc_jupyter.forms.values import FormProblem, FormValues
from svc_jupyter.service.kinds.spark.notes.form_texts import filled
from svc_jupyter.service.kinds.spark.notes.job import (
    ERROR_FILE,
    PARAGRAPHS_FILE,
    PROGRESS_FILE,
    SUMMARY_FILE,
    TABLES_FILE,
    table_file,
)
from svc_jupyter.service.kinds.spark.notes.languages import Language, Paragraph, UnknownLanguage, paragraph_of
from svc_jupyter.service.kinds.spark.notes.paragraph_results import (
    RunParagraph,
    Table,
    joined_tables,
    results_of,
    write_table,
)
from svc_jupyter.service.kinds.spark.notes.shell_paragraphs import Shell
from svc_jupyter.service.kinds.spark.notes.statements import (
    Interpreter,
    Log,
    Message,
    RunFailure,
    StatementEnd,
    StatementError,
)

if TYPE_CHECKING:
    from mistune import Markdown


_LONGEST_CHAIN = 100
"""Limit of paragraphs that `z.run` may add to a run: a paragraph that runs itself must not loop forever."""


class NoteRun:
    """A run in progress. `paragraphs` are the document's, `arguments` the values of forms by name."""

    def __init__(
        self,
        folder: Path,
        paragraphs: Sequence[Mapping[str, Any]],
        arguments: Mapping[str, Any],
        session: Interpreter,
        shell: Shell,
        log: Log,
        default: Language = Language.SCALA,
    ) -> None:
        """`default` is the language of paragraphs that name none."""
        self._default = default
        self._folder = folder
        self._paragraphs = paragraphs
        self._arguments = arguments
        self._session = session
        self._shell = shell
        self._log = log
        self._done: list[RunParagraph] = []
        self._tables: list[Table] = []
        self._table_texts: list[Message] = []

    def run(self, only: str | None = None) -> int:
        """Run the paragraphs in order; return the exit code. The results are in the folder, however the run ended.

        `only` is the id of the only paragraph to run.
        """
        places = [place for place, one in enumerate(self._paragraphs) if is_run(one)]
        try:
            self._run_all(places if only is None else [self._place_of(only)])
        except RunFailure as failure:
            self._fail(failure)
            return 1
        self._succeed()
        return 0

    def _run_all(self, waiting: list[int]) -> None:
        planned = len(waiting)
        longest = planned + _LONGEST_CHAIN
        while waiting:
            called = [self._place_of(call) for call in self._run_paragraph(waiting.pop(0))]
            waiting = called + waiting
            planned += len(called)
            if planned > longest:
                raise RunFailure(f"z.run asked for more than {_LONGEST_CHAIN} paragraphs", may_retry=False)
            write_whole(self._folder / PROGRESS_FILE, f"{99 * (planned - len(waiting)) // planned}\n")

    def _run_paragraph(self, place: int) -> Sequence[str]:
        """Run one paragraph and store its result; return the paragraphs that it asked to run. Raises `RunFailure`."""
        source = self._paragraphs[place]
        about = RunParagraph(
            id=str(source.get("id") or place), number=place + 1, title=source.get("title") or None, language=""
        )
        about.started_at = time.time()
        self._done.append(about)
        try:
            paragraph = paragraph_of(source.get("text") or "", self._default)
            about.language = paragraph.language.value
            self._log(f"paragraph {_name(about)} of {len(self._paragraphs)} (%{about.language})\n")
            self._save()
            end = self._statement(paragraph)
        except (UnknownLanguage, FormProblem) as error:
            end = StatementEnd([], StatementError(str(error)))
        except RunFailure as failure:
            about.status, about.finished_at, about.error = "ABORT", time.time(), failure.message
            raise RunFailure(f"paragraph {_name(about)}: {failure.message}", may_retry=failure.may_retry) from failure
        self._keep(about, end)
        if end.error is None:
            return end.calls
        # The paragraph's first line names its language: the engine did not count it.
        about.line = None if end.error.line is None else end.error.line + _offset(source)
        where = "" if about.line is None else f", line {about.line}"
        raise RunFailure(f"paragraph {_name(about)}{where}: {end.error.message}")

    def _statement(self, paragraph: Paragraph) -> StatementEnd:
        if paragraph.is_empty:
            return StatementEnd([])
        text, values = paragraph.code, FormValues(self._arguments)
        match paragraph.language:
            case Language.MARKDOWN:
                return StatementEnd([Message("HTML", rendered(filled_markdown(text, values)))])
            case Language.SHELL:
                script, variables = filled_script(text, values)
                return self._shell.run(script, variables, self._log)
        return self._session.run(paragraph, filled(text, paragraph.language, values), self._arguments, self._log)

    def _keep(self, about: RunParagraph, end: StatementEnd) -> None:
        messages = list(end.messages)
        if end.error is not None:
            messages.append(Message("TEXT", f"{end.error.message}\n"))
        about.finished_at = time.time()
        about.status = "FINISHED" if end.error is None else "ERROR"
        about.error = None if end.error is None else end.error.message
        about.results = results_of(messages, failed=end.error is not None)
        about.forms = dict(end.forms)
        for message in messages:
            if message.type == "TABLE":
                number = len(self._tables) + 1
                self._tables.append(write_table(message, self._folder / table_file(number), about))
                self._table_texts.append(message)
                about.tables.append(number)
        self._save()

    def _place_of(self, call: str) -> int:
        """Return the position of the paragraph that `z.run` names, by id or number from 1. Raises `RunFailure`."""
        for place, one in enumerate(self._paragraphs):
            if call in (str(one.get("id")), str(place + 1)):
                return place
        raise RunFailure(f"z.run names no paragraph of this note: {call[:100]}", may_retry=False)

    def _save(self) -> None:
        write_whole(self._folder / PARAGRAPHS_FILE, json.dumps([one.to_json() for one in self._done]))

    def _succeed(self) -> None:
        self._summarise()
        self._log(f"all {len(self._done)} paragraphs are done\n")

    def _fail(self, failure: RunFailure) -> None:
        self._summarise()
        write_whole(self._folder / ERROR_FILE, json.dumps({"message": failure.message, "may_retry": failure.may_retry}))

    def _summarise(self) -> None:
        self._save()
        text = joined_tables(self._table_texts).encode("utf-8", "replace")
        (self._folder / TABLES_FILE).write_bytes(text)
        summary = {"size": len(text) if self._tables else None, "tables": [asdict(table) for table in self._tables]}
        write_whole(self._folder / SUMMARY_FILE, json.dumps(summary))


def is_run(paragraph: Mapping[str, Any]) -> bool:
    """Return whether a run includes a paragraph: it has text and is not disabled."""
    config = paragraph.get("config")
    is_enabled = not isinstance(config, dict) or config.get("enabled") is not False
    return bool(is_enabled and (paragraph.get("text") or "").strip())


def _name(paragraph: RunParagraph) -> str:
    return f"{paragraph.number} ({paragraph.title})" if paragraph.title else str(paragraph.number)


def _offset(source: Mapping[str, Any]) -> int:
    return paragraph_of(source.get("text") or "").first_line - 1


def rendered(text: str) -> str:
    """Return Markdown as HTML; HTML in it becomes text, since other users than its author read a note."""
    return cast("str", _renderer()(text))


@cache
def _renderer() -> Markdown:
    import mistune

    return mistune.create_markdown(escape=True, plugins=["strikethrough", "table", "task_lists", "url"])
