"""How a statement of Spark ended, by the files that it left in its attempt's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from svc_jupyter.service.commands.kind import Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.spark.driver.statement import ERROR_FILE, OUT_FILE, RESULT_FILE, SUMMARY_FILE


def has_ended(folder: Path) -> bool:
    """Return whether a statement has told its end."""
    return (folder / SUMMARY_FILE).exists() or (folder / ERROR_FILE).exists()


def outcome_of(task: Task, code: int | None = None) -> Outcome:
    """Return the outcome of a statement that has told its end: typed rows, else the lines it printed, else a text.

    What it printed beside rows goes into the log. `code` is its process's, where it had one of its own.
    """
    error = _told(task.folder / ERROR_FILE)
    if error is not None:
        where = "" if error.get("line") is None else f"line {error['line']}: "
        return Outcome(False, f"{where}{error['message']}", exit_code=code, may_retry=error["may_retry"])
    summary = _told(task.folder / SUMMARY_FILE) or {}
    printed = task.folder / OUT_FILE
    size = printed.stat().st_size if printed.exists() else 0
    if summary.get("rows") is None:
        lines = StoredResult(ResultForm.LINES, file=f"{task.attempt}/{OUT_FILE}", size=size) if size else None
        return Outcome(True, None if size else summary.get("message"), exit_code=code, result=lines)
    if size:
        with printed.open("rb") as source, task.log_file.open("ab") as log:
            shutil.copyfileobj(source, log)
    return Outcome(True, exit_code=code, result=StoredResult.of_rows(f"{task.attempt}/{RESULT_FILE}", summary))


def _told(file: Path) -> dict[str, Any] | None:
    try:
        told: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return told
