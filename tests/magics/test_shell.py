"""`%%svc_shell` in a notebook."""

import pandas as pd
import pytest

from svc_jupyter.magics.cells import running


@pytest.mark.both_services
def test_the_output_becomes_a_frame_of_lines_and_the_value_of_the_cell(service, notebook):
    service.behave("echo hi; echo there", output="hi\nthere\n")
    frame = notebook.value("%%svc_shell\necho hi; echo there\n")
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"line": ["hi", "there"]}))
    assert notebook.shell.user_ns["_"] is frame
    assert service.submissions[0]["command_type"] == "ShellCommand"
    assert service.submissions[0]["inline"].strip() == "echo hi; echo there"


def test_a_fast_command_leaves_one_line_and_no_progress(service, notebook, monkeypatch):
    monkeypatch.setattr(running, "SILENT_SECONDS", 60)
    service.behave("echo hi", output="hi\n")
    notebook.value("%%svc_shell\necho hi\n")
    [line] = notebook.lines
    assert line.startswith("✓ command 128 · ")
    assert line.endswith(" · 1 line")


def test_a_short_command_takes_two_requests(service, notebook, monkeypatch):
    monkeypatch.setattr(running, "SILENT_SECONDS", 60)
    service.behave("echo hi", output="hi\n")
    notebook.value("%%svc_shell\necho hi\n")
    calls = [(one.method, one.url.path.rsplit("/", 1)[-1]) for one in service.requests]
    assert calls == [("POST", ""), ("GET", "status_with_results")]


def test_every_option_reaches_the_service(service, notebook):
    service.behave("run")
    notebook.shell.user_ns["day"] = pd.Timestamp("2026-01-02").date()
    notebook.value(
        "%%svc_shell --label etl --name 'my run' --tags a,b --timeout 60 --retry 2 --retry-delay 5 --pool fast "
        "--notify "
        '--files s3://b/x,s3://b/y --archives s3://b/z.zip --parameters "1 \'two three\'" --param who="O\'Neil \\"" '
        "--var day --macro 'up=who.toUpperCase()'\nrun\n"
    )
    assert {name: value for name, value in service.submissions[0].items() if name != "inline"} == {
        "command_type": "ShellCommand",
        "label": "etl",
        "name": "my run",
        "tags": "[a,b]",
        "timeout": 60,
        "retry": 2,
        "retry_delay": 5,
        "pool": "fast",
        "can_notify": True,
        "files": "s3://b/x,s3://b/y",
        "archives": "s3://b/z.zip",
        "parameters": "1 'two three'",
        "macros": [{"who": '"O\'Neil \\""'}, {"day": '"2026-01-02"'}, {"up": "who.toUpperCase()"}],
    }


def test_dollars_and_braces_in_the_cell_are_left_to_the_service(service, notebook):
    notebook.shell.user_ns["x"] = "from the notebook"
    service.behave("echo $x$ {x} $HOME", output="\n")
    notebook.value("%%svc_shell\necho $x$ {x} $HOME\n")
    assert service.submissions[0]["inline"] == "echo $x$ {x} $HOME\n"


def test_a_format_makes_columns(service, notebook):
    service.behave("run", output="name\tcount\na\t1\nb\t2\n")
    frame = notebook.value("%%svc_shell --format tsv\nrun\n")
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"name": ["a", "b"], "count": [1, 2]}))


def test_an_output_that_is_not_in_the_format_is_one_error_that_keeps_the_way_to_the_lines(service, notebook):
    service.behave("run", output="a,b\n1,2,3\n")
    error = notebook.error("%%svc_shell --format csv\nrun\n")
    assert str(error).startswith("command 128 is done, but the output is not CSV: ")
    assert "%svc_command 128 result" in str(error)


def test_the_types_of_columns_can_be_named(service, notebook):
    service.behave("run", output="zip,n\n12345,1\n,\n")
    frame = notebook.value("%%svc_shell --format csv --types zip=str\nrun\n")
    assert frame.dtypes.map(str).to_dict() == {"zip": "str", "n": "Int64"}
    again = notebook.value("%svc_command 128 result --format csv --types n=float")
    assert again.dtypes.map(str).to_dict() == {"zip": "Int64", "n": "float64"}


def test_types_that_cannot_be_are_refused_and_nothing_runs(service, notebook):
    def refusal(options):
        return str(notebook.error(f"%%svc_shell {options}\nrun\n"))

    assert "the types str, int, float, bool, datetime, not 'zip=text'" in refusal("--format csv --types zip=text")
    assert "--types takes NAME=TYPE" in refusal("--format csv --types zip")
    assert "add --format tsv|csv|json|table" in refusal("--types zip=str")
    assert service.submissions == []


def test_numpy_s_types_are_a_setting_of_the_cells_that_follow(service, notebook):
    service.behave("run", output="k,n\na,1\nb,\n")
    cell = "%%svc_shell --format csv\nrun\n"
    assert str(notebook.value(cell)["n"].dtype) == "Int64"
    notebook.run('%config SvcMagics.dtypes = "numpy"').raise_error()
    assert str(notebook.value(cell)["n"].dtype) == "float64"


def test_out_assigns_and_shows_the_frame(service, notebook):
    service.behave("run", output="a\n")
    frame = notebook.value("%%svc_shell -o lines\nrun\n")
    assert notebook.shell.user_ns["lines"] is frame
    assert notebook.lines[-1].endswith("1 line · lines")


def test_quiet_assigns_and_shows_nothing(service, notebook):
    service.behave("run", output="a\n")
    assert notebook.value("%%svc_shell -o lines --quiet\nrun\n") is None
    assert list(notebook.shell.user_ns["lines"]["line"]) == ["a"]
    assert notebook.lines == []


def test_a_command_without_output_is_an_empty_frame(service, notebook):
    service.behave("true", output="")
    frame = notebook.value("%%svc_shell\ntrue\n")
    assert frame.empty
    assert list(frame.columns) == ["line"]
    assert notebook.lines[-1].endswith(" · 0 lines")


def test_a_script_of_the_storage_runs_by_the_line_magic(service, notebook):
    service.behave("s3://bucket/run.sh", output="done\n")
    frame = notebook.value("%svc_shell --script-location s3://bucket/run.sh")
    assert list(frame["line"]) == ["done"]
    assert "inline" not in service.submissions[0]


def test_neither_or_both_of_cell_and_location_submit_nothing(service, notebook):
    assert "there is no script" in str(notebook.error("%svc_shell"))
    assert "not both" in str(notebook.error("%%svc_shell --script-location s3://b/x\necho hi\n"))
    assert service.submissions == []


def test_the_default_label_is_used_and_the_option_wins(service, notebook):
    notebook.shell.run_line_magic("config", "SvcMagics.default_label = 'etl'")
    notebook.value("%%svc_shell\na\n")
    notebook.value("%%svc_shell --label other\nb\n")
    assert [body["label"] for body in service.submissions] == ["etl", "other"]


def test_many_lines_are_shown_up_to_the_limit(service, notebook):
    service.behave("seq 2000", output="".join(f"{number}\n" for number in range(1, 2001)))
    frame = notebook.value("%%svc_shell -n 3\nseq 2000\n")
    assert len(frame) == 2000
    assert notebook.lines[-1].endswith(" · 2,000 lines")
