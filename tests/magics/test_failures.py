"""A failure is one readable error, and it stops what follows."""

import pytest

from svc_jupyter.magics.display.errors import SvcServiceError
from svc_jupyter.magics.display.failures import Origin, SvcCommandCancelled, SvcCommandFailed, failure


@pytest.mark.both_services
def test_a_failed_query_shows_cause_place_tap_and_next_step(service, notebook):
    service.add_tap("flights")
    query = "SELECT carrier\nFROM flights\nWHERE dep_delays > 30\n"
    service.behave(query, status="error", message="no such column: dep_delays")
    error = notebook.error(f"%%svc_db --tap flights\n{query}")
    assert isinstance(error, SvcCommandFailed)
    assert error.command_id == 128
    first, *others = notebook.error_text.split("\n")
    assert first.startswith("SvcCommandFailed: command 128 failed after ")
    assert first.endswith(": no such column: dep_delays")
    assert others == [
        "  query, line 3: WHERE dep_delays > 30",
        "  tap flights (sqlite). Log: %svc_command 128 logs",
    ]


def test_an_engine_of_many_words_has_its_place_and_its_tap_once(service, notebook):
    service.add_tap("flights")
    message = "no table flight!\nIs it flights?\n  query, line 2: FROM flight\n  tap flights (sqlite)"
    service.behave("SELECT *\nFROM flight", status="error", message=message)
    notebook.error("%%svc_db --tap flights\nSELECT *\nFROM flight")
    assert notebook.error_text.split("\n")[1:] == [
        "  Is it flights?",
        "  query, line 2: FROM flight",
        "  tap flights (sqlite). Log: %svc_command 128 logs",
    ]


@pytest.mark.parametrize("option", ['--param "name=O\'Hare"', "--var name"])
def test_a_pasted_value_with_a_quote_is_named_beside_the_way_that_takes_any_value(service, notebook, option):
    service.add_tap("flights")
    query = "SELECT * FROM airports\nWHERE name = '$name$'"
    service.behave(query, status="error", message="unrecognized token")
    notebook.shell.user_ns["name"] = "O'Hare"
    notebook.error(f"%%svc_db --tap flights {option}\n{query}")
    became = "the value of $name$ holds ' and became part of the SQL"
    assert notebook.error_text.split("\n")[1:] == [
        f"  {became}: write :name without quotes, and --bind instead of --param or --var",
        "  tap flights (sqlite). Log: %svc_command 128 logs",
    ]


def test_a_pasted_value_that_changes_no_sql_is_not_named(service, notebook):
    service.add_tap("flights")
    service.behave("SELECT '$day$' FROM flight", status="error", message="no such table: flight")
    notebook.error("%%svc_db --tap flights --param day=2026-01-31\nSELECT '$day$' FROM flight")
    assert "became part" not in notebook.error_text


def test_in_a_named_session_which_takes_no_bound_values_none_are_advised(service, notebook):
    service.behave("SELECT '$name$'", status="error", message="unrecognized token")
    notebook.error("%%svc_sql --app-id kept --param \"name=O'Hare\"\nSELECT '$name$'")
    assert ": unrecognized token" in notebook.error_text
    assert "became part" not in notebook.error_text


def test_a_failed_script_shows_the_end_of_its_log(service, notebook):
    script = "cd /tmp\nfoo --bar\n"
    service.behave(script, status="error", message="exit code 127", log="bash: line 2: foo: command not found\n")
    notebook.error(f"%%svc_shell\n{script}")
    first, *others = notebook.error_text.split("\n")
    assert first.endswith(": exit code 127")
    assert others == [
        "  bash: line 2: foo: command not found",
        "  script, line 2: foo --bar",
        "  Log: %svc_command 128 logs",
    ]


def test_a_service_that_gives_no_reason_has_it_in_the_log(notebook_of, bare_service):
    bare_service.behave("make", status="error", message="make: *** no targets", log="\r10 %\r\x1b[2Kreading\n")
    notebook = notebook_of(bare_service)
    notebook.error("%%svc_shell\nmake\n")
    first, *others = notebook.error_text.split("\n")
    assert first.endswith(": make: *** no targets")
    assert others == ["  reading", "  Log: %svc_command 128 logs"]


def test_the_error_shows_no_traceback_of_the_magics(service, notebook):
    service.behave("false", status="error", message="exit code 1")
    notebook.error("%%svc_shell\nfalse\n")
    assert "Traceback" not in notebook.error_text
    assert ".py" not in notebook.error_text


def test_a_failure_leaves_the_variable_as_it_was(service, notebook):
    notebook.shell.user_ns["kept"] = "before"
    service.behave("false", status="error", message="exit code 1")
    notebook.error("%%svc_shell -o kept\nfalse\n")
    assert notebook.shell.user_ns["kept"] == "before"


@pytest.mark.both_services
def test_a_cancellation_by_somebody_else_is_reported_as_one(service, notebook):
    service.behave("x", status="cancelled", message="cancelled by reader@example.com")
    error = notebook.error("%%svc_shell\nx\n")
    assert isinstance(error, SvcCommandCancelled)
    assert "command 128 was cancelled after " in notebook.error_text
    assert ("reader@example.com" in notebook.error_text) is not service.bare


def test_a_refused_submission_is_the_services_own_words(service, notebook):
    service.refusal = (422, "ShellCommand could not be created: name must not contain & < > \" '")
    error = notebook.error("%%svc_shell --name 'a&b'\nx\n")
    assert isinstance(error, SvcServiceError)
    assert notebook.error_text == f"SvcServiceError: {service.refusal[1]}"


def test_a_wrong_token_is_reported_with_the_next_step_and_never_shown(service, notebook, monkeypatch):
    monkeypatch.setenv("SVC_API_TOKEN", "secret-but-wrong")
    notebook.error("%%svc_shell\nx\n")
    assert notebook.error_text.startswith("SvcServiceError: the token is missing or wrong")
    assert "SVC_API_TOKEN" in notebook.error_text
    assert "secret-but-wrong" not in notebook.error_text


def test_a_missing_token_is_reported_before_anything_is_sent(service, notebook, monkeypatch):
    monkeypatch.delenv("SVC_API_TOKEN")
    notebook.error("%%svc_shell\nx\n")
    assert "there is no token for" in notebook.error_text
    assert service.requests == []


def test_a_service_error_is_one_error_in_every_magic(service, notebook):
    service.refusal = (403, "you may not do this: command.read is missing")
    said = {}
    for magic in ("%%svc_shell\nx\n", "%svc_history", "%svc_status", "%svc_command 5 logs"):
        notebook.error(magic)
        said[magic] = notebook.error_text
    assert said == dict.fromkeys(said, "SvcServiceError: you may not do this: command.read is missing")


def test_a_long_message_and_log_are_shortened():
    text = str(failure(1, "\n".join(["cause", *"abcdefghijklmnopqrstuvwxyz"]), [], Origin("query"), 2.0))
    assert len(text.split("\n")) < 20


def test_a_log_line_that_is_the_message_is_reported_once():
    text = str(failure(1, "exit code 2: no such file", ["no such file", "more"], Origin("script"), 2.0))
    assert text.count("no such file") == 1
    assert "  more\n" in text


def test_details_in_the_message_of_the_service_are_not_repeated():
    message = "no such table: tt\n  query, line 2: from tt\n  tap big (sqlite)"
    text = str(failure(1, message, [], Origin("query", "select a\nfrom tt", "tap big (sqlite)"), 2.0))
    assert text.split("\n") == [
        "command 1 failed after 2.0 s: no such table: tt",
        "  query, line 2: from tt",
        "  tap big (sqlite). Log: %svc_command 1 logs",
    ]


def test_the_engines_caret_stays_under_its_word():
    message = 'syntax error at or near "form"\n  LINE 1: select 1 form t\n                   ^'
    lines = str(failure(1, message, [], Origin("query"), 2.0)).split("\n")
    assert lines[1:3] == ["  LINE 1: select 1 form t", "                   ^"]


def test_without_a_message_the_failure_is_still_reported():
    assert str(failure(1, "", [], Origin("script"), 2.0)).startswith("command 1 failed after 2.0 s\n")
