"""Running a transfer inside a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from svc_jupyter.files import write_whole
from svc_jupyter.service.db_taps.engines.engine import Engine
from svc_jupyter.service.db_taps.execution import DescribedFailure, Execution, count_rows
from svc_jupyter.service.db_taps.failures import QueryFailure, describe
from svc_jupyter.service.db_taps.job import PROGRESS_FILE, Job
from svc_jupyter.service.kinds.db_transfer.transfer import Transfer


class TransferExecution(Execution):
    """A running transfer; the engine is the tap's."""

    def __init__(self, job: Job, engine: Engine, log: TextIO | None = None) -> None:
        super().__init__(job, engine, log)
        self._moving: Transfer | None = None

    def cancel(self) -> None:
        """Ask both databases to stop their statements."""
        super().cancel()
        if self._moving is not None:
            self._moving.cancel()

    def summary(self) -> Mapping[str, Any]:
        """Move the rows and return their number."""
        progress = self.job.folder / PROGRESS_FILE
        moving = self._moving = Transfer(
            self.job,
            lambda: self.engine,
            lambda line: print(line, file=self.log, flush=True),
            lambda share, rows: write_whole(progress, f"{int(99 * share)} {rows}\n"),
        )
        try:
            moved = moving.run()
        except QueryFailure as failure:
            side = moving.side
            text = describe(
                failure,
                script=side.script,
                source=self.job.source,
                statement=None,
                only_one=True,
                tap=f"{side.connection.tap} ({side.connection.db_type})",
                noun=side.connection.noun,
            )
            raise DescribedFailure(text, may_retry=failure.may_retry) from None
        return {"moved": moved, "target": moving.target, "message": f"{count_rows(moved)} written to {moving.target}"}
