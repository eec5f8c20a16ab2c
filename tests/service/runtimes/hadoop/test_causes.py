from __future__ import annotations

import pytest

from svc_jupyter.service.runtimes.hadoop.causes import explain

HTTP = """2026-11-21 19:53:02,090 ERROR namenode.NameNode: Failed to start namenode.
java.net.BindException: Port in use: 127.3.4.1:9870
\tat org.apache.hadoop.http.HttpServer2.constructBindException(HttpServer2.java:1375)
Caused by: java.io.IOException: Failed to bind to /127.3.4.1:9870
\t... 9 more
"""
RPC = "org.apache.hadoop.YarnRuntimeException: java.net.BindException: Problem binding to [127.3.4.1:8031]"


@pytest.mark.parametrize(("output", "place"), [(HTTP, "127.3.4.1:9870"), (RPC, "127.3.4.1:8031")])
def test_a_taken_port_is_named_with_the_command_that_names_its_owner(output: str, place: str):
    port = place.partition(":")[2]
    told = explain("namenode", "ip-127-3-4-1", output, 1)
    assert told.startswith(f"namenode on ip-127-3-4-1 ended: another program listens at {place}.")
    assert f"ss -ltnp sport = :{port}" in told


@pytest.mark.parametrize(
    ("output", "code", "told"),
    [
        ("java.io.IOException: No space left on device\n\tat x", 1, "the disk is full. Make room"),
        ("java.lang.OutOfMemoryError: Java heap space", 3, "it did not have enough memory"),
        ("", 137, "it was killed (signal 9)"),
        ("", 1, "with exit code 1 and wrote nothing"),
        ("", None, "ended and wrote nothing"),
        ("ERROR x: no\njava.lang.IllegalStateException: bad key\n\tat a.b(c)\n", 1, "bad key"),
        ("first\nlast words\n", 2, "with exit code 2: last words"),
    ],
)
def test_the_cause_is_reported_in_words(output: str, code: int | None, told: str):
    assert told in explain("datanode", "ip-127-3-4-1", output, code)
