"""The values that a submission has for the names of its query."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from svc_jupyter.api.commands import QuerySubmission
from svc_jupyter.service.db_taps.bindings import NotBound, bound
from svc_jupyter.service.db_taps.statements import NotSeparable, split
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.sql_tokens import Dialect


async def described_bindings(submission: QuerySubmission, dialect: Dialect) -> dict[str, Any]:
    """Return the record's `bindings`, nothing where there are none.

    Raises `Invalid` when a name of the query has no value, or a value no name. Of a query in a file, or with what may
    be a macro, only its run knows the names.
    """
    if not submission.bindings:
        return {}
    if submission.query and "$" not in submission.query:
        await asyncio.to_thread(_check, submission.query, submission.bindings, dialect)
    return {"bindings": submission.bindings}


def _check(query: str, bindings: dict[str, Any], dialect: Dialect) -> None:
    with suppress(NotSeparable):  # the run says so, as it does of a query without bindings
        try:
            bound(split(query, dialect), dict.fromkeys(bindings, ()), dialect)
        except NotBound as failure:
            raise Invalid(f"bindings: {failure.message}") from None
