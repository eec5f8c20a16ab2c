"""Programs in Scala on a real Spark cluster: those that are an object with `main`, and those that end Spark."""

from __future__ import annotations

import pytest
from tests.support.service_process import ServiceProcess
from tests.support.spark import lines, log, results, run

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]
SUM = """
import org.apache.spark.sql.SparkSession

object Sum {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder.appName("Sum").getOrCreate()
    val n = if (args.length > 0) args(0).toInt else 3
    val total = spark.sparkContext.parallelize(1 to n).map(_ * 2).reduce(_ + _)
    println(s"the sum is $total")
    spark.stop()
  }
}
"""
IN_A_PACKAGE = """package org.example

import org.apache.spark.{SparkConf, SparkContext}

case class Point(x: Int)

object First {
  def main(args: Array[String]): Unit = println("first")
}

object Second extends App {
  val sc = new SparkContext(new SparkConf().setAppName("Second"))
  println(sc.parallelize(Seq(Point(20), Point(22))).map(_.x).sum.toInt)
  sc.stop()
}
"""


def in_scala(spark: ServiceProcess, program: str, **fields: str) -> dict[str, object]:
    return run(spark, program=program, language="scala", **fields)


@pytest.mark.parametrize(
    ("fields", "total"), [({"user_program_arguments": "4"}, 20), ({"arguments": "--class Sum"}, 12)]
)
def test_the_main_of_an_object_is_the_program(spark: ServiceProcess, fields: dict[str, str], total: int) -> None:
    record = in_scala(spark, SUM, **fields)
    assert (record["status"], lines(spark, record["id"])) == ("done", [f"the sum is {total}"]), record["message"]
    assert "compiling the program" in log(spark, record["id"])


def test_a_main_in_a_package_has_its_own_context_and_arguments_choose_between_two(spark: ServiceProcess) -> None:
    unclear = in_scala(spark, IN_A_PACKAGE)
    assert unclear["status"] == "error"
    assert "please specify one with --class" in str(unclear["message"])
    record = in_scala(spark, IN_A_PACKAGE, arguments="--class org.example.Second")
    assert (record["status"], lines(spark, record["id"])) == ("done", ["42"]), record["message"]


def test_a_main_that_does_not_compile_or_fails_says_where(spark: ServiceProcess) -> None:
    record = in_scala(spark, SUM.replace("args(0).toInt", "args(0)").replace("val n", "val n: Int"))
    assert record["status"] == "error"
    assert str(record["message"]).startswith("line 7: type mismatch;"), record["message"]
    record = in_scala(spark, SUM, user_program_arguments="x")
    assert 'java.lang.NumberFormatException: For input string: "x"' in str(record["message"])


def test_a_program_that_ends_spark_ends_only_its_own(spark: ServiceProcess) -> None:
    run(spark, sql="CREATE TEMP VIEW stays AS SELECT 7 AS n", app_id="stays")
    record = in_scala(spark, "println(spark.range(4).count)\nspark.stop()\nprintln(5)")
    assert (record["status"], lines(spark, record["id"])) == ("done", ["4", "5"]), record["message"]
    kept = run(spark, sql="SELECT n FROM stays", app_id="stays")
    assert results(spark, kept["id"])["n"].to_pylist() == [7], kept["message"]


@pytest.mark.parametrize("end", ["spark.stop()", "sc.stop()", "SparkSession.builder.getOrCreate().close()"])
def test_a_program_in_a_kept_session_cannot_end_spark_for_all(spark: ServiceProcess, end: str) -> None:
    in_scala(spark, "import org.apache.spark.sql.SparkSession\nval n = 8", app_id="kept in scala")
    record = in_scala(spark, end, app_id="kept in scala")
    assert record["message"] == "line 1: stop() would end Spark for all sessions of the cluster: leave it out"
    after = in_scala(spark, "println(n + spark.range(2).count)", app_id="kept in scala")
    assert lines(spark, after["id"]) == ["10"], f"{after['message']}\n{log(spark, after['id'])}"


def test_a_program_after_one_that_does_not_compile_is_read_afresh(spark: ServiceProcess) -> None:
    broken = in_scala(spark, "val a = 1\nval b: Int = nosuch(a)", app_id="afresh")
    assert broken["message"] == "line 2: not found: value nosuch"
    after = in_scala(spark, "println(1)", app_id="afresh")
    assert lines(spark, after["id"]) == ["1"], after["message"]


def test_an_error_has_the_line_of_the_code_that_ran(spark: ServiceProcess) -> None:
    in_scala(spark, "// below\ndef below(n: Int): Int =\n\n  1 / n", app_id="lines")
    record = in_scala(spark, "println(1)\nval n = below(0)", app_id="lines")
    assert record["message"] == "line 2: java.lang.ArithmeticException: / by zero"
