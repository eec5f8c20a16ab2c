from __future__ import annotations

from svc_jupyter.service.runtimes.spark.driver.plan_text import failure_in

CLASS = "org.apache.spark.sql.AnalysisException: "


def test_a_plan_that_says_why_there_is_none() -> None:
    failures = {
        "== Optimized Logical Plan ==\nRange (0, 7, step=1)\n\n== Physical Plan ==\n*(1) Range": None,
        f"== Physical Plan ==\nProject ['{CLASS}x' AS a]": None,
        f"{CLASS}[A] `x` is no. B 1; line 2 pos 6;\n'Project ['x]\n+- 'Filter\n\n== Physical Plan ==": (
            "[A] `x` is no. B 1",
            (2, 6),
        ),
        f"== Optimized Logical Plan ==\n{CLASS}[A] no\nSearch path. C 4; line 12 pos 1\n== Physical Plan ==": (
            "[A] no\nSearch path. C 4",
            (12, 1),
        ),
        f"{CLASS}[A] `x` is no. B 1\n'Project ['x]": ("[A] `x` is no. B 1", None),
        f"{CLASS}[A] no": ("[A] no", None),
    }
    assert {plan: failure_in(plan) for plan in failures} == failures
