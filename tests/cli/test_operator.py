"""The operator's subcommands against a real service: what they print, what they change, and their exit codes."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.support.service_process import ServiceProcess

from svc_jupyter.cli.access.actions import FAILED, NOT_CONFIRMED, NOT_FOUND
from svc_jupyter.cli.main import main
from svc_jupyter.client import Client, Unauthorized

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(shared_service: ServiceProcess, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs the command line in this process, as an administrator of the shared service, with nobody to be asked."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        assert shared_service.token not in captured.out + captured.err
        return code, captured.out, captured.err

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVC_BASE_URL", shared_service.base_url)
        patch.setenv("SVC_API_TOKEN", shared_service.token)
        patch.setattr(sys, "stdin", io.StringIO())
        yield run


@pytest.fixture
def word() -> str:
    """A word that no other test has used."""
    return f"w{uuid4().hex[:10]}"


@pytest.fixture
def email(run: Run, word: str) -> str:
    """The address of a new user in no group but `system-user`."""
    assert run("user", "invite", f"{word}@example.com")[0] == 0
    return f"{word}@example.com"


def printed(outcome: tuple[int, str, str]) -> str:
    code, out, err = outcome
    assert (code, err) == (0, "")
    return out


def read(outcome: tuple[int, str, str]) -> Any:
    return json.loads(printed(outcome))


class Terminal(io.StringIO):
    """Somebody at a terminal, and what they type."""

    def isatty(self) -> bool:
        return True


def test_a_user_is_invited_shown_disabled_and_enabled(run: Run, word: str):
    group = read(run("group", "create", word, "--json"))
    invited = read(run("user", "invite", f"{word}@example.com", "--group", word, "--group", "system-user", "--json"))
    assert (invited["email"], invited["groups"]) == (f"{word}@example.com", ["system-user", word])
    shown = printed(run("user", "show", f"{word.upper()}@example.com"))
    assert shown.splitlines() == [
        f"id      {invited['id']}",
        f"e-mail  {word}@example.com",
        f"name    {word}",
        "state   enabled",
        "groups  system-user",
        f"        {word}",
    ]
    assert printed(run("user", "disable", str(invited["id"]), "--yes")) == f"{word}@example.com is disabled\n"
    [line] = [line for line in printed(run("user", "list")).splitlines() if word in line]
    assert line.split() == [str(invited["id"]), f"{word}@example.com", "disabled", "system-user,", word]
    assert printed(run("user", "enable", f"{word}@example.com")) == f"{word}@example.com is enabled\n"
    assert read(run("user", "show", str(invited["id"]), "--json"))["enabled"] is True
    assert invited["id"] in [user["id"] for user in read(run("user", "list", "--json"))]
    assert read(run("group", "show", str(group["id"]), "--json"))["members"] == [invited["id"]]


def test_a_group_gets_and_loses_members_and_roles(run: Run, word: str, email: str):
    role = read(run("role", "create", f"role {word}", "--allow", "note:read", "--json"))["id"]
    made = printed(run("group", "create", word, "--member", email, "--role", str(role)))
    assert [line.split(None, 1)[1] for line in made.splitlines()[1:]] == [
        word,
        f"{email} (id {read(run('user', 'show', email, '--json'))['id']})",
        f"role {word} (id {role})",
    ]
    assert printed(run("group", "remove", word, email, "--yes")) == f"{email} no longer in the group {word}\n"
    assert run("group", "unassign-role", word, f"role {word}", "--yes")[0] == 0
    empty = read(run("group", "show", word, "--json"))
    assert (empty["members"], empty["roles"]) == ([], [])
    printed(run("group", "add", word, email, "1"))
    printed(run("group", "assign-role", word, f"role {word}"))
    copy = read(run("group", "duplicate", word, "--name", f"{word} 2", "--json"))
    assert (len(copy["members"]), copy["role_names"]) == (2, [f"role {word}"])
    assert run("group", "rename", f"{word} 2", f"{word} 3")[0] == 0
    lines = printed(run("group", "list")).splitlines()
    assert lines[0].split() == ["id", "name", "members", "roles"]
    assert [line.split()[1:] for line in lines if f"{word} 3" in line] == [[word, "3", "2", "role", word]]
    assert printed(run("group", "delete", f"{word} 3", "--yes")).startswith(f"deleted the group {word} 3 (id ")
    assert run("group", "show", f"{word} 3")[0] == NOT_FOUND


def test_a_role_comes_from_options_and_files_and_is_edited(run: Run, word: str, tmp_path: Path):
    toml = tmp_path / "role.toml"
    toml.write_text('[[policies]]\naccess = "allow"\nresource = "cluster"\naction = ["read", "start"]\n')
    options = ("--allow", "scheduler:read, update", "--deny", "note:delete", "--policies", str(toml))
    made = printed(run("role", "create", word, *options))
    assert [line.removeprefix("entries").strip() for line in made.splitlines()[2:5]] == [
        "allow cluster:read,start",
        "allow scheduler:read,update",
        "deny note:delete",
    ]
    shown = tmp_path / "role.json"
    shown.write_text(printed(run("role", "show", word, "--json")))
    added = read(run("role", "edit", word, "--add", "--allow", "hive:read", "--deny", "note:delete", "--json"))
    assert len(added["policies"]) == 4
    back = read(run("role", "edit", word, "--policies", str(shown), "--name", f"{word} 2", "--yes", "--json"))
    assert (back["policies"], back["name"]) == (json.loads(shown.read_text())["policies"], f"{word} 2")
    assert read(run("role", "duplicate", f"{word} 2", "--json"))["policies"] == back["policies"]
    listed = [line for line in printed(run("role", "list")).splitlines() if f"{word} 2 copy" in line]
    assert listed[0].endswith("allow cluster:read,start; allow scheduler:read,update; deny note:delete")
    assert run("role", "delete", f"{word} 2 copy", "--yes")[0] == 0
    assert run("role", "show", f"{word} 2 copy")[0] == NOT_FOUND


def test_entries_are_read_from_stdin(run: Run, word: str, monkeypatch: pytest.MonkeyPatch):
    entry = {"access": "allow", "resource": "all", "action": ["read"]}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps([entry])))
    assert read(run("role", "create", word, "--policies", "-", "--json"))["policies"] == [entry]


REFUSED_FILES = {
    ("r.json", b"{"): "r.json: Expecting property name",
    ("r.toml", b"policies = "): "r.toml: Invalid value",
    ("r.json", b'{"entries": []}'): "r.json: policies: Field required",
    ("r.json", b"7"): "r.json: the file: Input should be",
    ("r.json", b'[{"access": "allow", "resource": "moon", "action": ["read"]}]'): "policies.1.resource: Value error",
    ("r.json", b"\xff"): "r.json: is not text in UTF-8",
}


def test_a_file_that_is_no_list_of_entries_is_reported(
    run: Run, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    errors = {}
    for name, content in REFUSED_FILES:
        (tmp_path / name).write_bytes(content)
        code, out, errors[name, content] = run("role", "create", word, "--policies", name)
        assert (code, out) == (FAILED, "")
    assert {file: error for file, error in errors.items() if REFUSED_FILES[file] not in error} == {}
    code, out, err = run("role", "create", word, "--policies", "none.json")
    assert (code, out, "none.json: No such file or directory" in err) == (FAILED, "", True)
    assert run("role", "show", word)[0] == NOT_FOUND


def test_a_token_is_printed_alone_and_works_until_it_is_revoked(
    run: Run, shared_service: ServiceProcess, word: str, email: str
):
    token = printed(run("token", "create", word, "--user", email, "--expires", "90d", "--quiet")).removesuffix("\n")
    with Client(shared_service.base_url, token) as client:
        assert client.account.get().email == email
        [listed] = read(run("token", "list", "--user", email, "--json"))
        assert (listed["name"], "token" in listed) == (word, False)
        assert listed["expires_at"] > listed["created_at"]
        out = printed(run("token", "revoke", str(listed["id"]), "--user", email, "--yes"))
        assert out == f"deleted the token {word} (id {listed['id']}) of {email}\n"
        with pytest.raises(Unauthorized):
            client.account.get()
    assert printed(run("token", "list", "--user", email)) == f"{email} has no tokens\n"
    code, _, err = run("token", "revoke", str(listed["id"]), "--user", email, "--yes")
    assert (code, "has no token" in err) == (NOT_FOUND, True)
    assert token not in shared_service.log_file.read_text()


def test_without_quiet_the_token_is_shown_with_what_it_is(run: Run, word: str, email: str):
    shown = dict(line.split(None, 1) for line in printed(run("token", "create", word, "--user", email)).splitlines())
    assert (shown["name"], shown["user"], shown["expires"]) == (word, email, "never")
    assert shown["token"].endswith("  (it is not shown again)")
    assert len(read(run("token", "create", word, "--user", email, "--json"))["token"]) > 40


def test_a_token_goes_into_a_file_of_its_owner_alone_and_serves_a_profile(
    run: Run, shared_service: ServiceProcess, data_dir: Path, word: str, email: str, monkeypatch: pytest.MonkeyPatch
):
    file = Path(os.environ["HOME"]) / "token"
    before = os.umask(0)
    try:
        out = printed(run("token", "create", word, "--user", email, "--file", str(file)))
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().strip() not in out
    assert f"in {file}" in out
    profiles = Path(os.environ["HOME"]) / ".config" / "svc-jupyter"
    profiles.mkdir(parents=True)
    profile = f'[profiles.own]\nbase_url = "{shared_service.base_url}"\ntoken_file = "{file}"\n'
    (profiles / "config.toml").write_text(profile)
    assert [token["name"] for token in read(run("token", "list", "--profile", "own", "--json"))] == [word]
    code, _, err = run("user", "disable", "1", "--yes", "--profile", "own")
    assert code == FAILED
    assert "permission to update user" in err


def test_a_token_is_not_made_when_its_file_is_there_or_cannot_be(run: Run, word: str, email: str, tmp_path: Path):
    file = tmp_path / "token"
    file.write_text("of something else")
    for path, expected in ((file, "is there already"), (tmp_path / "nowhere" / "token", "No such file or directory")):
        code, out, err = run("token", "create", word, "--user", email, "--file", str(path))
        assert (code, out, expected in err) == (FAILED, "", True)
    assert file.read_text() == "of something else"
    assert read(run("token", "list", "--user", email, "--json")) == []


def test_a_refused_token_leaves_no_file(run: Run, email: str, tmp_path: Path):
    file = tmp_path / "token"
    code, _, err = run("token", "create", "a<b", "--user", email, "--file", str(file))
    assert (code, "name: " in err, file.exists()) == (FAILED, True, False)


def test_a_token_that_cannot_be_written_is_deleted_again(
    run: Run, word: str, email: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run("token", "create", word, "--user", email, "--file", str(tmp_path / "token"))
    assert (code, "No space left on device; the token was deleted again" in err) == (FAILED, True)
    assert read(run("token", "list", "--user", email, "--json")) == []
    assert not (tmp_path / "token").exists()


def test_the_audit_log_is_filtered(run: Run, word: str, email: str):
    group = read(run("group", "create", word, "--member", email, "--json"))["id"]
    lines = printed(run("audit", "--resource", "group", "--object", str(group), "--since", "1h")).splitlines()
    # Below them may be those of a deleted group that had the id before.
    assert [line.split()[1:] for line in lines[1:3]] == [
        ["admin@localhost", "add_users", "group", str(group), "127.0.0.1", f'users=["{email}"]'],
        ["admin@localhost", "create", "group", str(group), "127.0.0.1", f"name={word}"],
    ]
    [entry] = read(run("audit", "--action", "create", "--resource", "group", "--limit", "1", "--json"))
    assert (entry["object_id"], entry["user_id"]) == (str(group), 1)
    assert [item["id"] for item in read(run("audit", "--trace", entry["trace_id"], "--json"))][-1] == entry["id"]
    assert printed(run("audit", "--user", email)) == "no such change is in the log\n"
    assert printed(run("audit", "--until", "2001-01-01", "--limit", "0")) == "no such change is in the log\n"


FAILURES = {
    ("group", "add", "system-user", "nobody@example.com"): (FAILED, "nobody@example.com: no such user in this"),
    ("group", "delete", "system-admin", "--yes"): (FAILED, "system-admin"),
    ("user", "disable", "1", "--yes"): (FAILED, "is the last enabled member of system-admin"),
    ("user", "show", "nobody@example.com"): (NOT_FOUND, "there is no user 'nobody@example.com'"),
    ("role", "edit", "no such role", "--name", "x"): (NOT_FOUND, "there is no role 'no such role'"),
    ("role", "edit", "any"): (FAILED, "there is nothing to change"),
    ("role", "create", "x", "--allow", "moon:read"): (FAILED, "'moon' is unknown; it must be one of account,"),
    ("role", "create", "x", "--allow", "note"): (2, "'note' must be such as scheduler:read,update"),
    ("token", "create", "x", "--expires", "soon"): (2, "'soon' is not a moment"),
    ("token", "create", "x", "--expires", "2001-01-01"): (FAILED, "expires_at: must be in the future"),
    ("audit", "--limit", "-1"): (2, "must be a number"),
    ("group", "enlarge"): (2, "invalid choice: 'enlarge'"),
    ("user", "list", "--profile", "gone"): (FAILED, "there is no [profiles.gone]"),
}


def test_a_command_that_fails_is_reported_with_its_exit_code(run: Run):
    found = {words: run(*words) for words in FAILURES}
    wrong = {
        words: outcome
        for words, outcome in found.items()
        if outcome[:2] != (FAILURES[words][0], "") or FAILURES[words][1] not in outcome[2]
    }
    assert wrong == {}


def test_a_deletion_asks_at_a_terminal_and_changes_nothing_without_a_yes(
    run: Run, word: str, monkeypatch: pytest.MonkeyPatch
):
    printed(run("group", "create", word))
    for stdin, code in ((io.StringIO("y\n"), NOT_CONFIRMED), (Terminal(""), NOT_CONFIRMED), (Terminal("n\n"), 5)):
        monkeypatch.setattr(sys, "stdin", stdin)
        found, out, err = run("group", "delete", word)
        assert (found, out, "nothing was changed" in err) == (code, "", True)
    monkeypatch.setattr(sys, "stdin", Terminal("Y\n"))
    found, out, err = run("group", "delete", word)
    assert (found, out.startswith(f"deleted the group {word} ")) == (0, True)
    assert f"Delete the group {word} (id " in err


def test_a_service_that_does_not_answer_is_reported_without_its_token(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SVC_API_TOKEN", "s3cret-token")
    code, out, err = run("user", "list")
    assert (code, out, "s3cret-token" in err) == (FAILED, "", False)
    assert err.startswith("svc-jupyter user list: the service at http://127.0.0.1:9 cannot be reached")


def test_a_reader_that_has_seen_enough_is_no_error_with_a_traceback(shared_service: ServiceProcess, data_dir: Path):
    environment = {"SVC_BASE_URL": shared_service.base_url, "SVC_API_TOKEN": shared_service.token}
    with subprocess.Popen(
        [sys.executable, "-m", "svc_jupyter", "audit", "--json", "--limit", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == FAILED


@pytest.mark.service
def test_the_embedded_service_is_found_without_any_settings(service: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["user", "list", "--json"]) == 0
    [administrator] = json.loads(capsys.readouterr().out)
    assert (administrator["email"], administrator["groups"]) == ("admin@localhost", ["system-admin"])
    assert main(["audit", "--action", "create_token"]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert line.split()[1:] == ["admin@localhost", "create_token", "user", "1", *line.split()[5:7], *line.split()[7:]]
    assert line.endswith("the service  token_id=1, name=service.json")


def test_rules_for_keeping_files_are_tried_before_they_hold(run: Run, tmp_path: Path):
    rules = tmp_path / "rules.json"
    rules.write_text('[{"what": "logs", "schedule_id": 1000000000, "keep_days": 36000, "keep_bytes": 5000}]')
    assert "nothing is deleted" in printed(run("prune"))
    tried = printed(run("prune", "--rules", str(rules), "--dry-run"))
    assert "logs of schedule 1000000000, at most 36000 days" in tried
    assert "0 bytes would be deleted" in tried
    assert "nothing is deleted" in printed(run("prune", "--dry-run"))
    try:
        assert "5,000" in printed(run("prune", "--rules", str(rules), "--yes"))
        assert json.loads(printed(run("prune", "--json")))[0]["keep_bytes"] == 5000
        assert json.loads(printed(run("prune", "--dry-run", "--json")))["bytes"] == 0
        rules.write_text('[{"what": "logs"}]')
        code, _, errors = run("prune", "--rules", str(rules), "--yes")
        assert code == FAILED
        assert "keep_days or keep_bytes" in errors
    finally:
        rules.write_text("[]")
        assert "nothing is deleted" in printed(run("prune", "--rules", str(rules), "--yes"))
