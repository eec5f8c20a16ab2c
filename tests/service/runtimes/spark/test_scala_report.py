"""What Scala's shell reports of code that does not compile, as it printed it."""

from svc_jupyter.service.runtimes.spark.driver.scala_report import compile_errors

OF_ONE_LINE = """                    ^
       error: type mismatch;
        found   : String("a")
        required: Int
                                      ^
       error: not found: value nosuch
"""
OF_LINES = """       val b = nosuch
               ^
On line 4: error: not found: value nosuch
         def g = f
                 ^
On line 5: warning: method f is deprecated (since 1): x
         val c: Int = "x"
                      ^
On line 6: error: type mismatch;
        found   : String("x")
        required: Int
"""


def test_an_error_has_its_line_without_the_source():
    assert compile_errors(OF_LINES) == [
        (4, "not found: value nosuch"),
        (6, 'type mismatch;\n found   : String("x")\n required: Int'),
    ]


def test_in_code_of_one_line_there_is_no_source():
    assert compile_errors(OF_ONE_LINE) == [
        (1, 'type mismatch;\n found   : String("a")\n required: Int'),
        (1, "not found: value nosuch"),
    ]


def test_without_an_error_there_is_none():
    reports = ("", "\n", "       warning: 1 deprecation; re-run with -deprecation for details\n")
    assert [compile_errors(report) for report in reports] == [[], [], []]
