"""`%svc_environment` on a real service that builds, with our extensions and without."""

import itertools
import os
import re

import pytest

from svc_jupyter.magics.display.errors import SvcMagicError, SvcServiceError, SvcUsageError

_numbers = itertools.count(1)


@pytest.fixture
def name(workplace):
    """A name that no other test has given, on a service that manages packages."""
    workplace.service.http.put("/account/features", json={"package_management": True})
    return f"env {os.getpid()} {next(_numbers)}"


def test_an_environment_is_made_changed_and_gone_back_to(at_work, name, capsys):
    at_work.value(f"%svc_environment create '{name}' six==1.16.0")
    assert f"environment {name} · create" in at_work.lines[-1]
    at_work.value(f"%svc_environment add '{name}' six==1.17.0")
    assert "six 1.16.0 → 1.17.0" in at_work.lines[-1]
    history = at_work.value(f"%svc_environment history '{name}' -o past")
    assert history[["action", "status", "packages"]].to_numpy().tolist() == [
        ["add", "success", "six==1.17.0"],
        ["create", "success", "six==1.16.0"],
    ]
    at_work.value(f"%svc_environment restore '{name}' {history['id'].iloc[-1]}")
    packages = at_work.value(f"%svc_environment packages '{name}'")
    assert packages[packages["requested"]][["package", "version"]].to_numpy().tolist() == [["six", "1.16.0"]]
    frame = at_work.value("%svc_environment")
    row = frame[frame["name"] == name].iloc[0]
    assert (row["env_type"], row["status"], row["package_id"]) == (
        "python_package",
        "success",
        at_work.value(f"%svc_environment history '{name}'")["id"].iloc[0],
    )
    error = at_work.error(f"%svc_environment delete '{name}'")
    assert isinstance(error, SvcUsageError)
    assert "Nothing was deleted; add --yes" in str(error)
    at_work.value(f"%svc_environment delete '{name}' --yes")
    assert f"{name} deleted" in capsys.readouterr().out


@pytest.mark.engine
def test_an_environment_of_r_is_made_and_gone_back_to(at_work, name):
    at_work.value(f"%svc_environment create '{name}' --r")
    frame = at_work.value("%svc_environment")
    row = frame[frame["name"] == name].iloc[0]
    assert (row["env_type"], row["python_version"]) == ("r_package", None)
    assert row["r_version"].count(".") == 2
    first = at_work.value(f"%svc_environment history '{name}'")["id"].iloc[0]
    at_work.value(f"%svc_environment restore '{name}' {first}")
    assert at_work.value(f"%svc_environment history '{name}'")["action"].to_list() == ["restore", "create"]
    assert "Give one" in str(at_work.error(f"%svc_environment create 'more {name}' --r --python 3.11"))
    at_work.value(f"%svc_environment delete '{name}' --yes")


def test_a_change_that_fails_raises_with_its_cause(at_work, name):
    at_work.value(f"%svc_environment create '{name}' --no-wait")
    assert "begun" in at_work.lines[-1]
    error = at_work.error(f"%svc_environment add '{name}' svc-no-such-package-anywhere")
    assert isinstance(error, SvcMagicError)
    assert "svc-no-such-package-anywhere was not found" in str(error)
    assert "Nothing was changed." in str(error)
    assert re.fullmatch(rf"✗ environment {name} · .* · failed after .*s", at_work.lines[-1])
    at_work.value(f"%svc_environment delete '{name}' --yes")


def test_a_refusal_of_the_service_is_reported(at_bare_work, name):
    made = at_bare_work.run(f"%svc_environment create '{name}' 'six @ https://example.org/six.whl'")
    assert isinstance(made.error_in_exec, SvcServiceError)
    assert "is asked for by a URL" in str(made.error_in_exec)
    assert "there is no environment 'nowhere'" in str(at_bare_work.error("%svc_environment history nowhere"))
