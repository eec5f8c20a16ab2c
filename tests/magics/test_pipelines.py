"""`%svc_pipeline` on a real service, with our extensions and without."""

import itertools
import os

import pytest

from svc_jupyter.magics.display.errors import SvcServiceError, SvcUsageError

_numbers = itertools.count(1)


@pytest.fixture
def name(workplace):
    """The name of a pipeline that no other test has."""
    name = f"pipeline {os.getpid()} {next(_numbers)}"
    body = {"name": name, "code": "1", "cluster_label": "nowhere"}
    answer = workplace.service.http.post("/pipelines", json=body)
    assert answer.status_code == 200, answer.text
    return name


def test_pipelines_are_listed_archived_and_deleted(at_work, name, capsys):
    frame = at_work.value("%svc_pipeline list --status draft -o drafts")
    assert at_work.shell.user_ns["drafts"] is frame
    row = frame[frame["name"] == name].iloc[0]
    assert (row["status"], row["health"], row["owner_name"]) == ("draft", "grey", "admin@localhost")
    at_work.value(f"%svc_pipeline archive '{name}'")
    assert f"{name} · archive" in capsys.readouterr().out
    error = at_work.error(f"%svc_pipeline delete {row['id']}")
    assert isinstance(error, SvcUsageError)
    assert "Nothing was deleted; add --yes" in str(error)
    at_work.value(f"%svc_pipeline delete {row['id']} --yes")
    assert f"{name} · deleted" in capsys.readouterr().out
    assert name not in set(at_work.value("%svc_pipeline")["name"])


def test_a_refusal_of_the_service_is_reported(at_bare_work, name):
    started = at_bare_work.error(f"%svc_pipeline start '{name}'")
    assert isinstance(started, SvcServiceError)
    assert "no cluster has the label 'nowhere'" in str(started)
    paused = at_bare_work.error(f"%svc_pipeline pause '{name}'")
    assert "does not run: there is nothing to pause" in str(paused)
    assert "there is no pipeline 'nothing'" in str(at_bare_work.error("%svc_pipeline start nothing"))
