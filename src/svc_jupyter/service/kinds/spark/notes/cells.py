"""Programs that run as cells of an interactive notebook: their forms are filled in, and their output is messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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


def filled_cell(plan: Plan, command: Mapping[str, Any], forms: CellForms) -> tuple[str, dict[str, Any]]:
    """Return a cell's code with its forms filled in, and the values for `z`. Raises `Invalid`."""
    assert plan.language is not None
    assert plan.code is not None
    values = forms.values(command)
    with translated(FormProblem, to=Invalid, about="forms"):
        code = filled(plan.code, _LANGUAGES[plan.language], values)
    return code, {"values": values.arguments, "limit": command[CELL]["limit"], "is_cell": True}
