"""How a `SparkCommand` runs: as a statement of a session, or as an application of its own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from svc_jupyter.api.spark_commands import SparkLanguage, SparkSubmission
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.spark.scala_programs import ScalaForm
from svc_jupyter.service.kinds.spark.submitted import check_options, split_words, words_of_cmdline
from svc_jupyter.service.runtimes.spark.driver.statement import Language

R_SUFFIX: Final = ".r"
_BY_SUFFIX: Final = {
    ".py": SparkLanguage.PYTHON,
    ".scala": SparkLanguage.SCALA,
    ".sql": SparkLanguage.SQL,
    R_SUFFIX: SparkLanguage.R,
}
_JAR: Final = ".jar"
_IN_SESSIONS: Final = {
    SparkLanguage.PYTHON: Language.PYTHON,
    SparkLanguage.SCALA: Language.SCALA,
    SparkLanguage.SQL: Language.SQL,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How a command runs. One of `code`, `location` and `cmdline` is set; the code may be at the location."""

    language: Language | None
    """None where Spark runs the program directly: a jar, a program in R, a command line."""
    code: str | None
    location: str | None
    cmdline: tuple[str, ...]
    """The words after `spark-submit`."""
    options: tuple[str, ...]
    """Options of spark-submit, which make the program an application of its own."""
    arguments: tuple[str, ...]
    session: str | None
    suffix: str = ""

    @property
    def is_in_r(self) -> bool:
        """Return whether Spark passes it to R; does not look into a command line."""
        return self.suffix == R_SUFFIX

    @property
    def is_statement(self) -> bool:
        """Return whether a session's driver could run it."""
        return self.language is not None

    @property
    def names_class(self) -> bool:
        """Return whether the options name the class whose `main` is the program."""
        return any(word.partition("=")[0] == "--class" for word in self.options)

    def runs_alone(self, pool: str | None, form: ScalaForm | None, *, on_yarn: bool) -> bool:
        """Return whether it needs its own application: for its options, for another queue of YARN, or to end it."""
        has_settings = bool(self.options) or (pool is not None and on_yarn)
        return not self.is_statement or has_settings or form in (ScalaForm.PROGRAM, ScalaForm.ENDS_SPARK)


NO_PROGRAM: Mapping[str, Any] = {
    **dict.fromkeys(("cmdline", "program", "user_program_arguments", "sql", "script_location", "app_id")),
    "md_cmd": False,
}
"""The empty fields of a note's `command`."""


def described(submission: SparkSubmission) -> dict[str, Any]:
    """Return the record's `command` of a submission without a note. Raises `Invalid`."""
    language = submission.known_language
    command = {
        "cmdline": submission.cmdline or None,
        "language": None if language is None else language.value,
        "note_id": None,
        "program": submission.program or None,
        "arguments": submission.arguments or None,
        "user_program_arguments": submission.user_program_arguments or None,
        "sql": submission.sql or None,
        "script_location": submission.script_location or None,
        "md_cmd": submission.md_cmd,
        "app_id": None if submission.app_id is None else str(submission.app_id),
    }
    for name, value in command.items():
        if isinstance(value, str) and "\0" in value:
            raise Invalid(f"{name} must not contain a NUL character")
    plan_of(command)
    return command


def plan_of(command: Mapping[str, Any]) -> Plan:
    """Return how a command runs. Raises `Invalid` for what the service cannot run."""
    if command["cmdline"]:
        _only_with_programs(command, "cmdline")
        words = tuple(words_of_cmdline(command["cmdline"]))
        return Plan(None, None, None, words, (), (), None)
    options = tuple(split_words(command["arguments"], "arguments"))
    check_options(options, "arguments")
    arguments = tuple(split_words(command["user_program_arguments"], "user_program_arguments"))
    session = command["app_id"]
    location = command["script_location"]
    suffix = PurePosixPath(location.partition("?")[0]).suffix.lower() if location else ""
    language = _language(command, suffix)
    in_session = None if language is None else _IN_SESSIONS.get(language)
    if session is not None and (in_session is None or options):
        raise Invalid("app_id names a session that is kept: options of spark-submit, jars and R need their own")
    if language is SparkLanguage.R and shutil.which("Rscript") is None:
        raise Invalid("language: R is not on this machine (there is no Rscript on the path): install R")
    code = command["sql"] or command["program"]
    if language is SparkLanguage.R:
        suffix = R_SUFFIX  # Spark recognises R by this suffix
    return Plan(in_session, code, location, (), options, arguments, session, suffix)


def _language(command: Mapping[str, Any], suffix: str) -> SparkLanguage | None:
    """Return the language, None for a jar."""
    if command["sql"]:
        return SparkLanguage.SQL
    if command["language"]:
        return SparkLanguage(command["language"])
    if suffix == _JAR:
        return None
    if suffix not in _BY_SUFFIX:
        raise Invalid(
            "script_location: its name ends with .py, .scala, .sql, .R or .jar; for another name give the language"
        )
    return _BY_SUFFIX[suffix]


def _only_with_programs(command: Mapping[str, Any], source: str) -> None:
    for name in ("arguments", "user_program_arguments", "app_id"):
        if command[name]:
            raise Invalid(f"{name} goes with a program, not with {source}, which holds everything itself")
