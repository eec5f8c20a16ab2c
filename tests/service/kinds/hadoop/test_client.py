"""Why a program of Hadoop failed, from what it wrote."""

from __future__ import annotations

from pathlib import Path

from svc_jupyter.service.kinds.hadoop.client import failure_text


def test_the_cause_is_shown_without_stacks_and_what_an_earlier_attempt_wrote(tmp_path: Path) -> None:
    log = tmp_path / "log"
    earlier = "Error: java.io.IOException: of an earlier attempt\n"
    log.write_text(
        f"{earlier}2026-11-21 20:54:14,875 INFO mapreduce.Job: Running job: job_1\n"
        "2026-11-21 20:54:16,875 INFO mapreduce.Job: Task Id : attempt_1, Status : FAILED\n"
        "Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1\n"
        "\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)\n"
        "2026-11-21 20:54:17,875 ERROR streaming.StreamJob: Job not successful!\n"
    )
    assert failure_text(log, len(earlier), 1).splitlines() == [
        "the program exited with code 1",
        "Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1",
        "streaming.StreamJob: Job not successful!",
    ]


def test_a_client_that_was_killed_is_reported(tmp_path: Path) -> None:
    assert failure_text(tmp_path / "log", 0, None).startswith("the client is gone without an exit code")
