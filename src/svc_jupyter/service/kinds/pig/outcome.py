"""The outcome of a script, read from the files in the attempt's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from svc_jupyter.service.commands.kind import Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.kinds.pig.command_line import HEAP_MEGABYTES
from svc_jupyter.service.kinds.pig.job import ERROR_FILE, OUTPUT_FILE, RESULT_FILE, SCRATCH_FILE, SUMMARY_FILE
from svc_jupyter.service.runtimes.hadoop.causes import explained, unopened_scheme

_LINE_SHOWN = 160
_SIGNALLED = 128


def outcome_of(task: Task, code: int | None, script: str, source: str) -> Outcome:
    """Return the outcome of an attempt whose process has ended; `source` names the script in messages."""
    try:
        summary = json.loads((task.folder / SUMMARY_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return _failure(task, code, script, source)
    dumps = [{key: dump[key] for key in ("alias", "rows", "size", "columns")} for dump in summary["dumps"]]
    outputs = {"dumps": dumps, "stores": summary["stores"]}
    return Outcome(True, _stored(summary["stores"]), exit_code=code, result=_result(task, dumps), outputs=outputs)


def _result(task: Task, dumps: Sequence[Mapping[str, Any]]) -> StoredResult | None:
    """Return the rows of the last DUMP or, without any, the printed output."""
    if dumps:
        return StoredResult.of_rows(f"{task.attempt}/{RESULT_FILE}", dumps[-1])
    output = task.folder / OUTPUT_FILE
    size = output.stat().st_size if output.exists() else 0
    return StoredResult(ResultForm.LINES, file=f"{task.attempt}/{OUTPUT_FILE}", size=size) if size else None


def _stored(stores: Sequence[Mapping[str, Any]]) -> str | None:
    """Return a description of what was stored where; None when nothing was."""
    lines = []
    for store in stores:
        rows = store["rows"]
        count = "rows" if rows is None else f"{rows:,} row{'' if rows == 1 else 's'}"
        lines.append(f"stored {count} of {store['alias']} in {store['location']}")
    return "\n".join(lines) or None


def _failure(task: Task, code: int | None, script: str, source: str) -> Outcome:
    try:
        error = json.loads((task.folder / ERROR_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return Outcome(False, _how(task, code), exit_code=code)
    may_retry = error["may_retry"] and unopened_scheme(error["message"]) is None
    return Outcome(False, explained(described(error, script, source)), exit_code=code, may_retry=may_retry)


def described(error: Mapping[str, Any], script: str, source: str) -> str:
    """Return the text for the user: the cause, then the position in the script with its source line."""
    lines = [error["message"] if error["code"] is None else f"{error['message']} (ERROR {error['code']})"]
    number = error["line"]
    if number is not None:
        place = f"  {source}, line {number}"
        if error["column"] is not None:
            place += f", column {error['column']}"
        text = _line(script, number)
        lines.append(f"{place}: {text}" if text else place)
    return "\n".join(lines)


def _line(script: str, number: int) -> str:
    lines = script.splitlines()
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return text if len(text) <= _LINE_SHOWN else f"{text[:_LINE_SHOWN]}…"


def _how(task: Task, code: int | None) -> str:
    """Return how a process ended that wrote no reason."""
    if "OutOfMemoryError" in _last_words(task):
        return (
            f"the script ran out of memory: its Java has {HEAP_MEGABYTES} MB; "
            "group or join less at once, or run it on a cluster"
        )
    if code is None:
        return "the Java that ran the script was killed (did memory run out?), or the machine was restarted"
    if code > _SIGNALLED:
        return f"the Java that ran the script was ended by signal {code - _SIGNALLED}"
    return f"the Java that ran the script ended with code {code}; the log says more"


def _last_words(task: Task) -> str:
    try:
        scratch = Path((task.folder / SCRATCH_FILE).read_text("utf-8").strip())
        return (scratch / "err").read_text("utf-8", "replace")[-4096:]
    except OSError:
        return ""
