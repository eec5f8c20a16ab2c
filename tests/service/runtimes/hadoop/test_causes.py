from __future__ import annotations

from svc_jupyter.service.runtimes.hadoop.causes import explain

HTTP = """2026-11-21 19:53:02,090 ERROR namenode.NameNode: Failed to start namenode.
java.net.BindException: Port in use: 127.3.4.1:9870
\tat org.apache.hadoop.http.HttpServer2.constructBindException(HttpServer2.java:1375)
Caused by: java.io.IOException: Failed to bind to /127.3.4.1:9870
\t... 9 more
"""
RPC = "org.apache.hadoop.YarnRuntimeException: java.net.BindException: Problem binding to [127.3.4.1:8031]"


def test_a_taken_port_is_named_with_the_command_that_names_its_owner():
    assert [explain("namenode", "ip-127-3-4-1", output, 1) for output in (HTTP, RPC)] == [
        "namenode on ip-127-3-4-1 ended: another program listens at 127.3.4.1:9870. "
        "`ss -ltnp sport = :9870` names it; end it, then start the cluster again",
        "namenode on ip-127-3-4-1 ended: another program listens at 127.3.4.1:8031. "
        "`ss -ltnp sport = :8031` names it; end it, then start the cluster again",
    ]


def test_the_cause_is_reported_in_words():
    causes = {
        ("java.io.IOException: No space left on device\n\tat x", 1): (
            "ended: the disk is full. Make room on it, then start the cluster again"
        ),
        ("java.lang.OutOfMemoryError: Java heap space", 3): (
            "ended: it did not have enough memory. End other programs, or request fewer nodes"
        ),
        ("", 137): "ended: it was killed (signal 9), as the system does when memory is short",
        ("", 1): "ended with exit code 1 and wrote nothing",
        ("", None): "ended and wrote nothing",
        ("ERROR x: no\njava.lang.IllegalStateException: bad key\n\tat a.b(c)\n", 1): (
            "ended with exit code 1: java.lang.IllegalStateException: bad key"
        ),
        ("first\nlast words\n", 2): "ended with exit code 2: last words",
    }
    assert {(output, code): explain("datanode", "ip-127-3-4-1", output, code) for output, code in causes} == {
        ended: f"datanode on ip-127-3-4-1 {told}" for ended, told in causes.items()
    }
