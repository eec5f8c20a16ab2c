"""What a text in Scala is: a script for Spark's shell, or a program for Scala's compiler."""

from svc_jupyter.service.kinds.spark.scala_programs import ScalaForm, compile_error, exits, form_of

MAIN = "object Sum {\n  def main(args: Array[String]): Unit = {\n    spark.stop()\n  }\n}\n"


PROGRAMS = [
    MAIN,
    f"// a program\nimport org.apache.spark.sql.{{SparkSession, functions => f}}\n\n{MAIN}",
    "package org.example\n\nclass Point(val x: Int)\n",
    'private[a] final case class P(x: Int)\n@deprecated("it", "1") object A\n  extends scala.App\n{\n}\n',
    "sealed trait Shape\nabstract class Base\nobject A\n  extends Serializable\n  with App\n{ println(1) }",
    "object A extends App { println(1) }",
    "case object X; object Y extends Serializable with App { println(1) }",
    '/* val x = 1 /* twice */ */\nobject A { def main(words: Array[String]) = println(s"${words.size}") }',
]


def test_definitions_with_a_main_are_a_program():
    assert [code for code in PROGRAMS if form_of(code) is not ScalaForm.PROGRAM] == []


SCRIPTS = [
    "",
    "println(1)",
    "object A { def twice(n: Int) = 2 * n }\nA.twice(4)",
    "object A { def f = 1 }",
    "import a.b",
    "object A { def main(args: Array[String]) = println(1) }\nA.main(args)",
    "object A extends App { println(1) }; val a = A",
    "spark.range(3)\n  .show()",
    'println(s"stop")',
    'println("spark.stop()") // sys.exit(1)\n/* stop */',
    'object A {\n  val text = """def main"""\n}',
]


def test_code_with_statements_of_its_own_or_without_a_main_is_a_script():
    assert [code for code in SCRIPTS if form_of(code) is not ScalaForm.SCRIPT] == []


def test_a_script_that_may_end_spark_is_known():
    ends = ["spark.stop()", "sc.stop", "sys.exit(0)", "Runtime.getRuntime.halt(1)", 's"${sc.stop()}"']
    assert [end for end in ends if form_of(f"println(1)\n{end}") is not ScalaForm.ENDS_SPARK] == []


def test_a_text_that_ends_its_process_is_known():
    assert exits("if (rows == 0) sys.exit(1)")
    assert exits("java.lang.System\n  .exit(0)")
    assert not exits('val exit = "sys.exit(1)" // System.exit(1)\nspark.stop()\nsystem.exit(1)')


def test_the_compiler_s_first_error_has_its_line():
    said = [
        "/data/7/1/files/program.scala:3: warning: method f is deprecated",
        "    f(1)",
        "    ^",
        "/data/7/1/files/program.scala:7: error: type mismatch;",
        " found   : String",
        " required: Int",
        "    val n: Int = args(0)",
        "                     ^",
        "/data/7/1/files/program.scala:9: error: not found: value y",
        "    y",
        "    ^",
        "1 warning",
        "2 errors",
    ]
    assert compile_error(said) == "line 7: type mismatch;\n found   : String\n required: Int"
    assert compile_error(said[-5:]) == "line 9: not found: value y"
    assert compile_error(["Exception in thread main", "at program.scala:7: error: x"]) is None
