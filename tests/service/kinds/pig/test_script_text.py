"""What is read off a script before Pig reads it."""

from __future__ import annotations

from svc_jupyter.service.kinds.pig.script_text import registered, runs, with_parameters

COUNTS = {
    "a = LOAD 'x';": 1,
    "DUMP a;": 1,
    "dump a; STORE a INTO 'y';\n  Dump b;": 3,
    "-- DUMP a;\n/* STORE b INTO 'c'; */ DUMP c;": 1,
    "a = LOAD 'x; dump y;'; DUMP a;": 1,
    "dumped = LOAD 'x'; DUMP dumped;": 1,
}


def test_the_statements_that_run_something_are_counted():
    assert {script: runs(script) for script in COUNTS} == COUNTS


def test_registered_files_are_found_outside_comments_with_their_parameters():
    script = """REGISTER 's3://$bucket/udfs.jar';
    register tools/x.jar; -- REGISTER 'not.jar';
    /* REGISTER 'nor.jar'; */
    REGISTER '${folder}/up.py' USING streaming_python AS up;
    a = LOAD 'REGISTER y.jar';
    """
    assert list(registered(script, {"bucket": "lake", "folder": "py"})) == [
        "s3://lake/udfs.jar",
        "tools/x.jar",
        "py/up.py",
    ]


def test_a_parameter_that_is_not_given_stays_for_pig_to_complain_about():
    assert with_parameters("$day/${hour}/$0", {"day": "2013-01-01"}) == "2013-01-01/${hour}/$0"
