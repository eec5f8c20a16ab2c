"""`%svc_policy` on a real service, with our extensions and without."""

from svc_jupyter.magics.display.errors import SvcServiceError, SvcUsageError


def test_an_object_without_a_policy_is_explained(at_work, workplace):
    number = workplace.note("n")
    answer = at_work.value(f"%svc_policy show note '{workplace.location}/n'")
    assert repr(answer).splitlines() == [
        f"policy of note {number} · {workplace.location}/n",
        "  entries          none: groups and roles decide",
        "  admin@localhost  ✓ may read, update, delete, manage: members of system-admin may do everything",
    ]
    assert answer.entries.empty


def test_allowing_says_what_that_means_to_them(at_work, workplace):
    ann, number = workplace.colleague(), workplace.note("n")
    answer = at_work.value(f"%svc_policy allow note {number} --user {ann} --action read --only -o policy")
    assert at_work.shell.user_ns["policy"] is answer
    assert answer.entries.to_numpy().tolist() == [[1, "allow", ann, "read"], [2, "deny", ann, "all"]]
    found = answer.decisions
    assert dict(zip(found["action"], found["allowed"], strict=True)) == {
        "read": True,
        "update": False,
        "delete": False,
        "manage": False,
    }
    text = repr(answer)
    assert f"✓ may read: entry 1 of the object's policy allows this to {ann}" in text
    assert f"✗ may not update, delete, manage: entry 2 of the object's policy denies this to {ann}" in text
    assert "set by" in text
    assert "<td" in at_work.result_data["text/html"]


def test_the_latest_entry_of_a_policy_takes_precedence(at_work, workplace):
    ann, number = workplace.colleague(), workplace.note("n")
    at_work.value(f"%svc_policy deny note {number} --user {ann} --action update --action delete")
    answer = at_work.value(f"%svc_policy allow note {number} --user {ann} --action update")
    assert answer.entries.to_numpy().tolist() == [[1, "allow", ann, "update"], [2, "deny", ann, "update, delete"]]
    assert dict(answer.decisions[["action", "allowed"]].to_numpy()) == {
        "read": True,
        "update": True,
        "delete": False,
        "manage": False,
    }
    assert answer.policy[0]["condition"]["service_users"]


def test_a_decision_that_a_folders_policy_makes_is_explained(at_work, workplace):
    ann, number = workplace.colleague(), workplace.note("n")
    group = f"readers {number}"
    workplace.post("/groups", {"name": group, "members": ann})
    at_work.value(f"%svc_policy deny folder '{workplace.location}' --group '{group}' --action delete")
    answer = at_work.value(f"%svc_policy show note {number} --for {ann} --action delete")
    assert list(answer.decisions["because"]) == [
        f"of folder {workplace.folder_id}: entry 1 of the object's policy denies this to group {group}"
    ]
    assert f"✗ may not delete: of folder {workplace.folder_id}" in repr(answer)


def test_an_administrator_is_not_kept_out_and_that_is_reported(at_work, workplace):
    answer = at_work.value(f"%svc_policy deny folder {workplace.folder_id} --user admin@localhost --action all")
    assert "✓ may read, update, delete, manage: members of system-admin may do everything" in repr(answer)


def test_a_warning_of_the_service_is_shown(at_work, workplace, monkeypatch):
    ann = workplace.colleague()
    users = workplace.service.http.get("/users", params={"per_page": 100}).json()["users"]
    ann_id = next(user["id"] for user in users if user["email"] == ann)
    token = workplace.post(f"/users/{ann_id}/tokens", {"name": "t"})["token"]
    with workplace.service.client(token) as http:
        body = {"name": "hers", "location": workplace.location}
        number = http.post("/notebooks", json=body).json()["id"]
    monkeypatch.setenv("SVC_API_TOKEN", token)
    answer = at_work.value(f"%svc_policy deny note {number} --user {ann} --action update")
    assert "with this policy you may no longer update note" in repr(answer)


def test_the_history_and_a_policy_that_is_cleared(at_work, workplace, capsys):
    ann, number = workplace.colleague(), workplace.note("n")
    at_work.value(f"%svc_policy deny note {number} --user {ann} --action read")
    error = at_work.error(f"%svc_policy clear note {number}")
    assert isinstance(error, SvcUsageError)
    assert "would lose its 1 entry. Nothing was changed; add --yes" in str(error)
    at_work.value(f"%svc_policy clear note {number} --yes")
    assert f"policy of note {number} · 1 entry taken out: groups and roles decide" in capsys.readouterr().out
    frame = at_work.value(f"%svc_policy history note {number}")
    assert list(frame["policy"]) == ["none", f"deny read · {ann}"]
    assert list(frame["set_by"]) == ["admin@localhost"] * 2


def test_a_schedule_is_named_by_its_name(at_work, workplace):
    body = {"command_type": "ShellCommand", "command": {"inline": "true"}, "cron_expression": "0 0 9 1 1 ? 2090"}
    schedule = workplace.post("/scheduler", {**body, "name": workplace.name})
    answer = at_work.value(f"%svc_policy show schedule '{workplace.name}'")
    assert repr(answer).startswith(f"policy of schedule {schedule['id']} · {workplace.name}")


def test_a_jupyter_notebook_is_named_by_its_path(at_work, workplace):
    workplace.service.http.put("/account/features", json={"jupyter_notebooks": True})
    ann, path = workplace.colleague(), f"Common/{workplace.name}.ipynb"
    workplace.service.http.put(f"/jupyter_notebooks/contents/{path}", json={})
    answer = at_work.value(f"%svc_policy deny jupyter_notebook '{path}' --user {ann} --action update")
    assert repr(answer).startswith(f"policy of jupyter_notebook {path}\n")
    assert f"✗ may not update: entry 1 of the object's policy denies this to {ann}" in repr(answer)
    number = answer.record.source_id
    answer = at_work.value(f"%svc_policy allow jupyter_notebook {number} --user {ann} --action update")
    assert repr(answer).startswith(f"policy of jupyter_notebook {number} · {path}\n")
    shown = at_work.value(f"%svc_policy show jupyter_notebook '{path}' --for {ann} --action update")
    assert list(shown.decisions["allowed"]) == [True]


def test_where_the_service_explains_nothing_the_policy_is_shown_alone(at_bare_work, workplace):
    ann, number = workplace.colleague(), workplace.note("n")
    answer = at_bare_work.value(f"%svc_policy deny note {number} --user {ann} --action read")
    assert answer.entries.to_numpy().tolist() == [[1, "deny", ann, "read"]]
    assert answer.decisions.empty
    assert "this service does not explain them" in repr(answer)
    assert isinstance(at_bare_work.error("%svc_policy show note 999999999"), SvcServiceError)


REFUSED = {
    "show note 999999999": "there is no note 999999999",
    "show folder Common/nowhere": "there is no folder Common/nowhere of notes",
    "show jupyter_notebook report": "by its path in the service, as in Common/report.ipynb, or its id",
    "show jupyter_notebook Common/none.ipynb": "there is no jupyter_notebook Common/none.ipynb",
    "show pipeline flow": "name the pipeline by its id, not by 'flow'",
    "show orchard 1": "'cluster', 'note', 'environment', 'scheduler'",
    "show note {note} --for nobody@example.com": "there is no user 'nobody@example.com'",
    "show note {note} --action fly": "action",
    "allow note {note} --action read": "say whom, by --user or --group",
    "deny note {note} --user {ann}": "required: --action",
    "deny note {note} --user x{ann} --action read": "Did you mean {ann}?",
    "deny note {note} --group nobodies --action read": "there is no group nobodies",
    "deny note {note} --user {ann} --action start": "a note has no action start",
    "clear": "required: KIND, OBJECT",
}


def test_an_invalid_policy_command_is_reported_and_changes_nothing(at_work, workplace):
    names = {"note": workplace.note("n"), "ann": workplace.colleague()}
    errors = {line: str(at_work.error(f"%svc_policy {line.format(**names)}")) for line in REFUSED}
    assert {line: error for line, error in errors.items() if REFUSED[line].format(**names) not in error} == {}
    asked = {"source_type": "note", "source_id": names["note"]}
    assert workplace.service.http.get("/object_policy/policy", params=asked).json()["policies"] == []
