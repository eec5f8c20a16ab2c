"""The parent of the processes that run notes: loads what they need once, then forks one for each run.

python -m svc_jupyter.service.kinds.spark.notes.worker

`processes/worker_parent.py` describes how a job arrives and what a worker leaves.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

from svc_jupyter.service.kinds.spark.notes.job import ERROR_FILE, NOTE_FILE, NoteJob
from svc_jupyter.service.kinds.spark.notes.languages import default_of
from svc_jupyter.service.kinds.spark.notes.run import NoteRun
from svc_jupyter.service.kinds.spark.notes.session_link import SessionAddress, SessionLink
from svc_jupyter.service.kinds.spark.notes.shell_paragraphs import Shell
from svc_jupyter.service.kinds.spark.notes.statements import RunFailure
from svc_jupyter.service.processes.worker_parent import WORKING_FOLDER, freeze, from_line, serve


def work(job: NoteJob) -> int:
    """Run a note in this process; return the exit code. The answer is in the job's folder."""
    document = json.loads((job.folder / NOTE_FILE).read_text("utf-8"))
    address = SessionAddress(**job.session)
    with job.log.open("a", encoding="utf-8", errors="replace", buffering=1) as log:
        try:
            link = SessionLink(address, job.folder, job.log, job.min_free_bytes)
        except RunFailure as failure:
            error = {"message": failure.message, "may_retry": failure.may_retry}
            (job.folder / ERROR_FILE).write_text(json.dumps(error), "utf-8")
            return 1
        shell = Shell(job.folder / WORKING_FOLDER, {**os.environ, **job.environment})

        def say(text: str) -> None:
            log.write(text)

        run = NoteRun(job.folder, document["paragraphs"], job.arguments, link, shell, say, default_of(document))
        try:
            return run.run(job.only)
        finally:
            _close(link)


def _close(link: SessionLink) -> None:
    try:
        link.close()
    except RunFailure:
        return  # the sessions ended with the server


def main() -> None:
    """Load, and fork a process for each job."""
    import mistune  # noqa: F401  a run's parts that are imported late
    import pyarrow.csv  # noqa: F401

    from svc_jupyter.service.db_taps.statements import split
    from svc_jupyter.sql_tokens import Dialect

    split("", Dialect.SPARK)  # imports sqlglot, which takes longer than a short paragraph
    freeze()
    serve(partial(from_line, NoteJob), work)


if __name__ == "__main__":
    if sys.path[0] in ("", str(Path.cwd())):
        del sys.path[0]
    main()
