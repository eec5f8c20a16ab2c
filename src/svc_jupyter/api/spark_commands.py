"""Fields of `SparkCommand` and `SqlCommand`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from svc_jupyter.api.commands import WHOLE_DATA, CellOptions, NoQuery, QuerySubmission
from svc_jupyter.api.fields import Id


class SparkLanguage(StrEnum):
    """What a program may be written in; `notebook` stands for the run of a note."""

    PYTHON = "python"
    SCALA = "scala"
    R = "R"
    SQL = "sql"
    NOTEBOOK = "notebook"


_SOURCES = ("program", "cmdline", "sql", "script_location", "note_id")
_BY_LOWER_CASE = {each.value.lower(): each for each in SparkLanguage}


class SparkCellOptions(CellOptions):
    """How a program runs as the cell of a notebook: `limit` is the most rows of its table, null for all."""

    limit: Annotated[int, Field(ge=1)] | None = None


class SparkSubmission(NoQuery):
    """Fields of a `SparkCommand`: exactly one of program, cmdline, sql, script_location and note_id.

    `arguments` are options of spark-submit in one string, quoted as for a shell; of a note the values of its forms, an
    object; `paragraph` is the id or number, from 1, of the one to run. `user_program_arguments` is one string, too.
    `app_id` names a session that is kept for further commands. With `cell`, a program in such a session runs as a cell:
    its forms are filled in, and what it prints and shows is kept as messages.
    """

    program: str | None = None
    cmdline: str | None = None
    sql: str | None = None
    script_location: str | None = None
    note_id: Id | None = None
    language: str | None = None
    arguments: Any = None
    user_program_arguments: str | None = None
    paragraph: Annotated[str, Field(max_length=255)] | int | None = None
    app_id: Id | str | None = Field(default=None)
    md_cmd: bool = False
    cell: SparkCellOptions | None = None

    @model_validator(mode="after")
    def _exactly_one_source(self) -> SparkSubmission:
        given = [name for name in _SOURCES if not _is_empty(getattr(self, name))]
        if len(given) != 1:
            found = "none was given" if not given else f"given were {', '.join(given)}"
            raise ValueError(f"give exactly one of {', '.join(_SOURCES)}: {found}")
        language = self.known_language
        if language is None and self.program and self.program.strip():
            raise ValueError("language: a program needs one of python, scala, R and sql")
        if (language is SparkLanguage.NOTEBOOK) and self.note_id is None:
            raise ValueError("language: notebook needs a note_id")
        if self.note_id is not None and language not in (None, SparkLanguage.NOTEBOOK):
            raise ValueError(f"language: of a note it is notebook, not {language}")
        if self.cell is not None and (self.app_id is None or not (self.program or self.sql)):
            raise ValueError("cell: goes with a program or sql, and with the app_id of its session")
        if self.note_id is None and not isinstance(self.arguments, str | None):
            raise ValueError("arguments: options of spark-submit are one string")
        return self

    @property
    def known_language(self) -> SparkLanguage | None:
        """The language, None where none is given. Raises `ValueError` for one that there is not."""
        if not self.language:
            return None
        try:
            return _BY_LOWER_CASE[self.language.lower()]
        except KeyError:
            raise ValueError(
                f"language: {self.language[:20]!r} is not one of python, scala, R, sql, notebook"
            ) from None


class SqlSubmission(QuerySubmission):
    """Fields of a `SqlCommand`: statements of Spark SQL."""

    sample_size: Annotated[int | None, Field(ge=0), WHOLE_DATA] = None


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
