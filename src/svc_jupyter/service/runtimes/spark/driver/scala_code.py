"""Runs Scala: an interpreter inside the driver, which shares the session's `spark` with Python.

Executors load the classes of all sessions from one folder, so each session needs its own class names. Spark requires
`$line` and digits; a session's digits begin with its number. Scala reads that prefix from a property of the whole
process whenever it compiles, so sessions compile in turn.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from .failure import CodeFailure
from .scala_report import compile_errors

_FIRST_NUMBER = 10_000
_NUMBERS = 90_000
_PREFIX = "scala.repl.name.line"
_LOCK = "scala.lock"
_TABLE = "org.apache.spark.sql.classic.Dataset"
_REFUSED = "Cannot stop SparkContext within listener bus thread"
_INCOMPLETE = "the program is incomplete: a bracket, a brace or a text is not closed"
_STOPS_ALL = "stop() would end Spark for all sessions of the cluster: leave it out"


class ScalaInterpreter:
    """The Scala interpreter of one session. Raises `CodeFailure`."""

    def __init__(self, spark: SparkSession, classes: Path, number: int) -> None:
        self._spark = spark
        self._jvm: Any = spark.sparkContext._jvm
        self._lock = classes / _LOCK
        self._prefix = f"$line{_FIRST_NUMBER + number % _NUMBERS}"
        self._interpreter: Any = None
        self._arguments: list[str] | None = None
        self._last = ""
        self._report = self._jvm.java.io.StringWriter()
        self._start(classes)

    def run(self, code: str, arguments: Sequence[str], printed: Path, *, echoes: bool = False) -> Any:
        """Run code; return the value of a last expression that is a table as a `DataFrame`, or else None.

        With `echoes` the definitions are printed, as Scala's own shell does.
        """
        output = self._jvm.java.io.PrintStream(self._jvm.java.io.FileOutputStream(str(printed), True), True)
        self._console.setOutDirect(output)
        self._jvm.java.lang.Thread.currentThread().setContextClassLoader(self._interpreter.classLoader())
        try:
            self._bind_arguments(arguments)
            definitions = self._loaded(self._compiled(code))
            value = self._value()
            if echoes and value is None:
                output.print(definitions)
            return value
        finally:
            output.flush()
            self._console.setOutDirect(self._jvm.System.out)
            output.close()

    def _start(self, classes: Path) -> None:
        jvm = self._jvm
        self._console = getattr(getattr(jvm.scala, "Console$"), "MODULE$")
        settings = jvm.scala.tools.nsc.Settings()
        for option in ("-usejavacp", "-Yrepl-class-based"):
            settings.processArgumentString(option)
        arguments = jvm.java.util.ArrayList()
        for word in ("-Yrepl-outdir", str(classes)):
            arguments.add(word)
        settings.processArguments(jvm.PythonUtils.toList(arguments), True)
        reporter = jvm.scala.tools.nsc.interpreter.shell.ReplReporterImpl(
            settings, jvm.java.io.PrintWriter(self._report, True)
        )
        with self._compiling():
            self._interpreter = jvm.scala.tools.nsc.interpreter.IMain(settings, reporter)
            self._interpreter.initializeCompiler()
        self._bind("spark", "org.apache.spark.sql.SparkSession", self._spark._jsparkSession)
        self._bind("sc", "org.apache.spark.SparkContext", self._spark.sparkContext._jsc.sc())
        for line in ("import spark.implicits._", "import spark.sql", "import org.apache.spark.sql.functions._"):
            self._loaded(self._compiled(line))

    def bind(self, name: str, kind: str, value: Any) -> None:
        """Bind a Java object to a name in the session's Scala."""
        self._bind(name, kind, value)

    def _bind(self, name: str, kind: str, value: Any) -> None:
        modifiers = self._jvm.java.util.ArrayList()
        modifiers.add("@transient")
        with self._compiling():
            self._interpreter.bind(name, kind, value, self._jvm.PythonUtils.toList(modifiers))

    def _bind_arguments(self, arguments: Sequence[str]) -> None:
        if self._arguments == list(arguments):
            return
        words = self._spark.sparkContext._gateway.new_array(self._jvm.java.lang.String, len(arguments))
        for number, word in enumerate(arguments):
            words[number] = word
        self._bind("args", "Array[String]", words)
        self._arguments = list(arguments)

    def _compiled(self, code: str) -> Any:
        self._report.getBuffer().setLength(0)
        self._interpreter.reporter().reset()  # its errors would be those of the next code, too
        with self._compiling():
            compiled = self._interpreter.compile(code, False)
        if compiled.isRight():
            return compiled.value()
        report = str(self._report.toString())
        errors = compile_errors(report)
        if not errors:
            raise CodeFailure(report.strip() or _INCOMPLETE, may_retry=False)
        (line, text), *more = errors
        raise CodeFailure("\n".join([text, *(f"line {at}: {also}" for at, also in more)]), line, may_retry=False)

    def _loaded(self, request: Any) -> str:
        """Run the compiled code; return what Scala's own shell would print."""
        result = request.loadAndRun()
        text = str(result.value())
        if not result.isRight():
            line = self._failed_line(request)
            if _REFUSED in text:
                raise CodeFailure(_STOPS_ALL, line, may_retry=False)
            raise CodeFailure(_without_stack(text), line)
        self._interpreter.recordRequest(request)
        return text

    def _failed_line(self, request: Any) -> int | None:
        """Return the line of the code that the request's error came from."""
        error = self._interpreter.valueOfTerm("lastException")
        if not error.isDefined():
            return None
        stack = self._jvm.java.io.StringWriter()
        error.get().printStackTrace(self._jvm.java.io.PrintWriter(stack, True))
        own = re.escape(f"{request.lineRep().packageName()}.$read$$iw")
        found = re.search(rf"{own}.*\(<console>:(\d+)\)", str(stack))
        return int(found[1]) if found else None

    def _value(self) -> Any:
        """Return the value of a last expression without a name, if it is new and a table."""
        name = str(self._interpreter.mostRecentVar())
        if not name.startswith("res") or name == self._last:
            return None
        self._last = name
        found = self._interpreter.valueOfTerm(name)
        value = found.get() if found.isDefined() else None
        if not isinstance(value, JavaObject) or value.getClass().getName() != _TABLE:
            return None
        return DataFrame(value.toDF(), self._spark)

    def _compiling(self) -> _Turn:
        return _Turn(self._lock, lambda: self._jvm.System.setProperty(_PREFIX, self._prefix))


class _Turn:
    """One session's turn to compile."""

    def __init__(self, lock: Path, begin: Any) -> None:
        self._path = lock
        self._begin = begin

    def __enter__(self) -> None:
        self._file = self._path.open("a")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._begin()

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _without_stack(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(("  at ", "\tat ", "  ... "))]
    return "\n".join(lines).strip()
