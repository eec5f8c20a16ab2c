"""What a submission says about its query: the values for its names, and whether its plan or some rows suffice."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from svc_jupyter.api.commands import QuerySubmission
from svc_jupyter.service.db_taps.bindings import NotBound, bound
from svc_jupyter.service.db_taps.plans import NotExplained, explained
from svc_jupyter.service.db_taps.statements import NotSeparable, split
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.sql_tokens import Dialect


async def described_options(submission: QuerySubmission, dialect: Dialect) -> dict[str, Any]:
    """Return the record's `bindings`, `limit` and `dry_run`, each only where it is given.

    Raises `Invalid` when a name of the query has no value, or a value no name, and when it has no plan. Of a query in a
    file, or with what may be a macro, only its run knows that.
    """
    given: dict[str, Any] = {
        "bindings": submission.bindings,
        "limit": submission.limit,
        "dry_run": submission.dry_run,
    }
    options = {name: value for name, value in given.items() if value}
    if options and submission.query and "$" not in submission.query:
        await asyncio.to_thread(_check, submission.query, options, dialect)
    return options


def _check(query: str, options: dict[str, Any], dialect: Dialect) -> None:
    with suppress(NotSeparable):  # the run says so, as it does of a query without options
        statements = split(query, dialect)
        try:
            if "bindings" in options:
                bound(statements, dict.fromkeys(options["bindings"], ()), dialect)
            if "dry_run" in options and statements:
                explained(statements, dialect)
        except NotBound as failure:
            raise Invalid(f"bindings: {failure.message}") from None
        except NotExplained as failure:
            raise Invalid(f"dry_run: {failure.message}") from None
