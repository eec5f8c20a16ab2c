"""`%svc_status`, `%svc_config`, and where the connection comes from."""

import pytest
from tests.support.displayed import html_of
from tests.support.double.service import TOKEN


def test_status_shows_service_account_and_features_but_no_token(service, notebook):
    facts = notebook.value("%svc_status")
    shown = repr(facts) + html_of(facts)
    for words in (service.base_url, "reader@example.com", "demo (1)", "system-admin", "jupyter_notebooks", "client "):
        assert words in shown
    assert TOKEN not in shown
    assert "package_management" not in shown  # it is off


def test_config_shows_the_settings_and_their_origin_but_no_token(service, notebook):
    shown = repr(notebook.value("%svc_config"))
    assert "rows_shown         20" in shown
    assert f"service            {service.base_url}" in shown
    assert "the environment" in shown
    assert "token              set, not shown" in shown
    assert TOKEN not in shown
    assert service.requests == []


@pytest.mark.parametrize(
    "line", ["%svc_config rows_shown 5", "%svc_config rows_shown=5", "%config SvcMagics.rows_shown = 5"]
)
def test_a_setting_counts_for_the_cells_that_follow(service, notebook, line):
    service.behave("seq 9", output="".join(f"{n}\n" for n in range(9)))
    notebook.run(line).raise_error()
    assert "… 4 more lines" in notebook.displayed("%%svc_shell\nseq 9\n")["text/plain"]


def test_a_setting_is_reset(notebook):
    notebook.value("%svc_config rows_shown 5")
    notebook.value("%svc_config rows_shown --reset")
    assert "20" in repr(notebook.value("%svc_config rows_shown"))


def test_a_value_that_does_not_fit_is_refused(notebook):
    assert "rows_shown does not take" in str(notebook.error("%svc_config rows_shown=many"))
    assert "rows_shown does not take" in str(notebook.error("%svc_config rows_shown=-1"))


def test_an_unknown_setting_is_reported_with_the_nearest(notebook):
    assert "Did you mean default_tap?" in str(notebook.error("%svc_config default_tab x"))


def test_a_token_is_never_taken_from_a_notebook(notebook):
    error = notebook.error("%svc_config token abc")
    assert "does not belong in a notebook" in str(error)
    assert "abc" not in str(error)


def test_a_new_address_is_used_by_the_next_cell(service, notebook, home):
    notebook.value("%svc_status")
    folder = home / ".config" / "svc-jupyter"
    folder.mkdir(parents=True)
    config = folder / "config.toml"
    config.write_text(f'[profiles.other]\nbase_url = "{service.base_url}"\ntoken = "another"\n')
    config.chmod(0o600)
    notebook.value("%svc_config profile other")
    assert "the token is missing or wrong" in str(notebook.error("%svc_status"))
    notebook.value("%svc_config profile --reset")
    assert "reader@example.com" in repr(notebook.value("%svc_status"))


def test_an_address_that_does_not_answer_is_one_error_with_the_next_step(notebook, monkeypatch):
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    error = str(notebook.error("%svc_status"))
    assert "http://127.0.0.1:9" in error
    assert "%svc_config shows where the address and the token come from" in error
