"""Programs that run as cells of an interactive notebook: their forms are filled in, and their output is messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from svc_jupyter.api.spark_commands import SparkSubmission
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.kinds.spark.notes.form_texts import FormProblem, FormValues, filled
from svc_jupyter.service.kinds.spark.notes.languages import Language
from svc_jupyter.service.kinds.spark.notes.note_runs import (
    check_forms,
    checked_arguments,
    open_arguments,
    seal_arguments,
)
from svc_jupyter.service.kinds.spark.plans import Plan
from svc_jupyter.service.runtimes.spark.driver.statement import Language as SparkLanguage
from svc_jupyter.service.workspace.note_forms import forms_of

CELL: Final = "_cell"
"""The field of a command's row with the cell's options; names with `_` are never shown."""
_LANGUAGES: Final = {
    SparkLanguage.PYTHON: Language.PYTHON,
    SparkLanguage.SCALA: Language.SCALA,
    SparkLanguage.SQL: Language.SQL,
}


class Cells:
    """Prepares cells. Values of password forms are sealed in the database and part of no record."""

    def __init__(self, secrets: SecretBox) -> None:
        self._secrets = secrets

    def described(self, submission: SparkSubmission, plan: Plan) -> dict[str, Any]:
        """Return the fields of a cell for the command's row. Raises `Invalid` for values that a form cannot have."""
        assert submission.cell is not None
        given = checked_arguments(submission.cell.forms)
        forms = forms_of({"paragraphs": [{"text": plan.code or ""}]})
        check_forms(forms, given)
        plain, sealed = seal_arguments(given, forms, self._secrets)
        return {CELL: {"forms": plain, "passwords": sealed, "limit": submission.cell.limit}}

    def filled(self, plan: Plan, command: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the code with its forms filled in, and the values for `z`. Raises `Invalid`."""
        assert plan.language is not None
        assert plan.code is not None
        cell = command[CELL]
        values = open_arguments(cell["forms"], cell["passwords"], self._secrets)
        with translated(FormProblem, to=Invalid, about="forms"):
            code, _ = filled(plan.code, _LANGUAGES[plan.language], FormValues(values))
        return code, {"values": values, "limit": cell["limit"], "is_cell": True}
