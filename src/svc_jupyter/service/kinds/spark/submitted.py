"""Programs as applications of their own: `spark-submit` as the process of a command, and why it failed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.spark.scala_programs import compile_error
from svc_jupyter.service.processes.output import last_lines
from svc_jupyter.service.runtimes.s3 import token_file
from svc_jupyter.service.runtimes.spark import program
from svc_jupyter.service.runtimes.spark.program import SparkLayout

SETTINGS_FILE: Final = "spark.conf"
STATEMENT_FILE: Final = "statement.json"
SECRETS_FILE: Final = "storage-secrets"
"""The keys of the account's S3 store; the file is removed when the attempt ends."""
_TAG: Final = "spark.yarn.tags"
_QUEUE: Final = "spark.yarn.queue"
_LINES_SHOWN: Final = 5
_TELLING: Final = re.compile(r"^(?:Error: |Caused by: |Exception in thread|[\w.]*(?:Exception|Error)\b)|\bERROR\b")
_STACK: Final = re.compile(r"^\s+(?:at |File |\.\.\. \d+ more)")
_R_ERROR: Final = re.compile(r"^Error in .* :\s*$")
_NO_QUEUE: Final = "rejected by placement rules"
_SUBMIT: Final = "spark-submit"
_COMPILE: Final = (
    '"$1" -cp "$2" scala.tools.nsc.Main -usejavacp -encoding UTF-8 -d "$4" "$3" || exit; shift 4; exec "$@"'
)
_MASTER_OPTIONS: Final = ("--master", "--properties-file")


def split_words(text: str | None, name: str) -> list[str]:
    """Return words as a shell splits them. Raises `Invalid` when a quote is not closed."""
    try:
        return shlex.split(text or "")
    except ValueError as error:
        raise Invalid(f"{name} cannot be split as a shell does: {str(error).lower()}") from error


def words_of_cmdline(text: str) -> list[str]:
    """Return the words after `spark-submit` of a command line. Raises `Invalid` for another program."""
    words = split_words(text, "cmdline")
    if not words or Path(words[0]).name != _SUBMIT:
        raise Invalid(f"cmdline: it begins with {_SUBMIT}, and its options and the program follow")
    check_options(words[1:], "cmdline")
    if len(words) == 1:
        raise Invalid(f"cmdline: {_SUBMIT} needs a program")
    return words[1:]


def check_options(words: Sequence[str], name: str) -> None:
    """Raise `Invalid` for options that would direct the program away from its cluster."""
    for word in words:
        option = word.partition("=")[0]
        if option in _MASTER_OPTIONS:
            raise Invalid(f"{name}: {option} is the cluster's: leave it out, or choose another cluster by its label")


def settings(
    place: SparkLayout, custom: Mapping[str, str], tag: str, pool: str | None, folder: Path, *, is_in_r: bool = False
) -> bytes:
    """Return the settings of an application of its own; it carries `tag` in YARN and runs in `pool`.

    An R application runs its tasks in its driver: on YARN Spark requires an archive of SparkR, which its installation
    lacks.
    """
    own = program.settings(place, custom) | {
        "spark.app.name": tag,
        "spark.local.dir": str(folder / "tmp"),
        "spark.repl.class.outputDir": str(folder / "classes"),
        _TAG: tag,
    }
    if pool is not None:
        own[_QUEUE] = pool
    if is_in_r and program.runs_on_yarn(custom):
        own |= {"spark.master": "local[*]", "spark.submit.deployMode": "client"}
    return program.properties(own)


def command_line(place: SparkLayout, folder: Path, words: Sequence[str]) -> list[str]:
    """Return `spark-submit` with its settings; `words` are options, the program, and its arguments."""
    return [str(place.spark / "bin" / _SUBMIT), "--properties-file", str(folder / SETTINGS_FILE), *words]


def compiler(place: SparkLayout, source: Path, jar: Path) -> list[str]:
    """Return the words that compile a program in Scala and run the words after them, or end with the compiler's code.

    The jar names its only class with a `main` as the one to run.
    """
    java = str(program.java_home(place) / "bin" / "java")
    return ["/bin/sh", "-c", _COMPILE, "sh", java, f"{place.spark}/jars/*", str(source), str(jar)]


def statement_words(place: SparkLayout, folder: Path, options: Sequence[str]) -> list[str]:
    """Return the words that run the statement in `folder` as an application."""
    return [*options, str(place.folder / program.FOLDER / "alone.py"), str(folder / STATEMENT_FILE)]


def environment(place: SparkLayout, inherited: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the environment of an application's driver."""
    own = {"TMPDIR": str(folder / "tmp"), token_file.VARIABLE: str(folder / SECRETS_FILE)}
    return {**inherited, **program.environment(place), **own}


def failure_text(said: Sequence[Path], code: int | None, pool: str | None) -> str:
    """Return why an application failed: its last meaningful message, without Java stack traces.

    `said` are its output files: its log, and its stdout, to which spark-submit sends Python tracebacks. YARN does not
    name a missing queue: that is `pool`.
    """
    if code is None:
        return "the driver is gone without an exit code: it was killed, or the machine was restarted"
    lines = [line for file in said for line in _with_whole_errors(last_lines(file))]
    if (error := compile_error(lines)) is not None:
        return error
    telling = [line.strip() for line in lines if _TELLING.search(line) and not _STACK.match(line)]
    shown = list(dict.fromkeys(telling))[-_LINES_SHOWN:] or lines[-_LINES_SHOWN:]
    if pool is not None and any(_NO_QUEUE in line for line in shown):
        shown.insert(0, f"pool {pool} has no place in the cluster's fairscheduler_config_xml")
    return "\n".join([f"the program exited with code {code}", *shown])


def _with_whole_errors(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines; R puts a long message on the line after `Error in f(x) :`."""
    begun = ""
    for line in lines:
        if _R_ERROR.match(line):
            begun = f"{line.rstrip()} "
        else:
            yield f"{begun}{line.strip()}" if begun else line
            begun = ""
    if begun:
        yield begun
