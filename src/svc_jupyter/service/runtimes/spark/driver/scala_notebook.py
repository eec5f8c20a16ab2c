"""The `z` of Scala paragraphs: the same forms and tables as in Python, through maps that both sides share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .notebook_context import ROWS, NotebookContext
from .scala_code import ScalaInterpreter

_VALUES, _FORMS, _CALLS = "svcNotebookValues", "svcNotebookForms", "svcNotebookCalls"
_PROGRAM = f"""
class SvcNotebook(
    values: java.util.Map[String, String],
    forms: java.util.List[java.util.List[Object]],
    calls: java.util.List[String]) {{

  private def declare(name: String, kind: String, default: Seq[Any], options: Iterable[(Any, String)]): Unit = {{
    val pairs = new java.util.ArrayList[Object]()
    options.foreach {{ case (value, shown) => pairs.add(value.toString); pairs.add(shown) }}
    val chosen = new java.util.ArrayList[Object]()
    default.foreach(one => chosen.add(one.toString))
    val form = new java.util.ArrayList[Object]()
    form.add(name); form.add(kind); form.add(chosen); form.add(pairs)
    forms.add(form)
  }}

  private def option(name: String, text: String, options: Iterable[(Any, String)]): Any =
    options.map(_._1).find(_.toString == text).getOrElse(
      throw new IllegalArgumentException(
        s"form $name has no such option; there are " + options.map(_._1).mkString(", ")))

  def textbox(name: String, default: Any = ""): String = {{
    declare(name, "TextBox", Seq(default), Nil)
    values.getOrDefault(name, default.toString)
  }}

  def input(name: String, default: Any = ""): String = textbox(name, default)

  def password(name: String): String = {{
    declare(name, "Password", Nil, Nil)
    values.getOrDefault(name, "")
  }}

  def select(name: String, default: Any, options: Iterable[(Any, String)]): Any = {{
    declare(name, "Select", Seq(default), options)
    option(name, values.getOrDefault(name, default.toString), options)
  }}

  def checkbox(name: String, default: Iterable[Any], options: Iterable[(Any, String)]): Seq[Any] = {{
    declare(name, "CheckBox", default.toSeq, options)
    val chosen = Option(values.get(name)).map(_.split(",").map(_.trim).filter(_.nonEmpty).toSeq)
    chosen.getOrElse(default.map(_.toString).toSeq).map(option(name, _, options))
  }}

  def show(value: Any, limit: Int = {ROWS}): Unit = value match {{
    case table: org.apache.spark.sql.Dataset[_] =>
      val rows = table.toDF().limit(limit + 1).collect()
      def cell(one: Any): String = if (one == null) "null" else one.toString.replaceAll("[\\t\\r\\n]", " ")
      println("\\n%table")
      println(table.columns.map(cell).mkString("\\t"))
      rows.take(limit).foreach(row => println(row.toSeq.map(cell).mkString("\\t")))
      println("%text")
      if (rows.length > limit) println(s"the first $limit rows are shown; z.show(table, N) shows N")
    case other => println(other)
  }}

  def html(text: String): Unit = println("\\n%html\\n" + text + "\\n%text")

  def run(paragraph: Any): Unit = calls.add(paragraph.toString)
}}
@transient val z = new SvcNotebook({_VALUES}, {_FORMS}, {_CALLS})
"""


class ScalaNotebook:
    """Provides a session's Scala with `z`, and reads what paragraphs declared."""

    def __init__(self, interpreter: ScalaInterpreter, jvm: Any) -> None:
        self._values = jvm.java.util.HashMap()
        self._forms = jvm.java.util.ArrayList()
        self._calls = jvm.java.util.ArrayList()
        interpreter.bind(_VALUES, "java.util.Map[String, String]", self._values)
        interpreter.bind(_FORMS, "java.util.List[java.util.List[Object]]", self._forms)
        interpreter.bind(_CALLS, "java.util.List[String]", self._calls)
        interpreter.run(_PROGRAM, [], Path(os.devnull))

    def begin(self, context: NotebookContext) -> None:
        """Pass the values of a paragraph's forms to `z`."""
        for name in list(self._values):
            del self._values[name]
        for held in (self._forms, self._calls):
            held.removeAll(held)  # Py4J's own `clear` ends in a Java exception
        for name, value in context.values.items():
            self._values.put(name, ",".join(map(_text, value)) if isinstance(value, list) else _text(value))

    def end(self, context: NotebookContext) -> None:
        """Pass what the paragraph declared to the context."""
        forms = []
        for name, kind, chosen, pairs in self._forms:
            texts, default = list(pairs), list(chosen)
            options = list(zip(texts[::2], texts[1::2], strict=True))
            forms.append((name, kind, default if kind == "CheckBox" else (default[0] if default else None), options))
        context.declare(forms, list(self._calls))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
