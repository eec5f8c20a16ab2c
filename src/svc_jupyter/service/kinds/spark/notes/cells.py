"""Programs that run as cells of an interactive notebook: their forms are filled in, and their output is messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from svc_jupyter.api.spark_commands import SparkSubmission
from svc_jupyter.forms.values import FormProblem
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.kinds.spark.notes.form_texts import filled
from svc_jupyter.service.kinds.spark.notes.languages import Language
from svc_jupyter.service.kinds.spark.plans import Plan
from svc_jupyter.service.runtimes.spark.driver.statement import Language as SparkLanguage
from svc_jupyter.service.workspace.form_arguments import CELL, CellForms

_LANGUAGES: Final = {
    SparkLanguage.PYTHON: Language.PYTHON,
    SparkLanguage.SCALA: Language.SCALA,
    SparkLanguage.SQL: Language.SQL,
}


class Cells:
    """Prepares cells for the session in which they run."""

    def __init__(self, forms: CellForms) -> None:
        self._forms = forms

    def described(self, submission: SparkSubmission, plan: Plan) -> dict[str, Any]:
        """Return the fields of a cell for the command's row. Raises `Invalid` for values that a form cannot have."""
        assert submission.cell is not None
        return self._forms.described(plan.code or "", submission.cell)

    def filled(self, plan: Plan, command: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the code with its forms filled in, and the values for `z`. Raises `Invalid`."""
        assert plan.language is not None
        assert plan.code is not None
        values = self._forms.values(command)
        with translated(FormProblem, to=Invalid, about="forms"):
            code = filled(plan.code, _LANGUAGES[plan.language], values)
        return code, {"values": values.arguments, "limit": command[CELL]["limit"], "is_cell": True}
