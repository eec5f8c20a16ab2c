"""Shell commands, run by the job that also runs them in the service."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import tarfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from pydantic import ValidationError

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.ends import StopReason
from svc_jupyter.service.commands.job import Job
from svc_jupyter.service.commands.record import public
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.http.validation import explain
from svc_jupyter.service.kinds.shell.kind import SCRIPT, ShellKind, split_parameters
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import mark_of, marked_processes
from svc_jupyter.service.schema.commands import NEW_ROW
from svc_jupyter.service.storage.room import Room
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.service.workspace.form_arguments import CellForms

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
FIELDS = ("files", "parameters", "script_location", "inline", "archives")


@pytest.fixture
def lake(settings) -> Path:
    """The account's default storage."""
    settings.storage_dir.mkdir()
    return settings.storage_dir


@pytest.fixture
def kind(settings, database, account_id, lake):
    settings.kill_grace_seconds = 0.2
    secrets = SecretBox(settings.data_dir / "secret.key")
    storage = Storage(settings, database, secrets)
    inherited = {**os.environ, "SVC_API_TOKEN": "token-of-the-service", "SVC_DATABASE_URL": "postgresql://u:p@h/d"}
    yield ShellKind(storage, CellForms(secrets), settings, inherited)
    storage.close()


@pytest.fixture
def caller(account_id) -> Caller:
    return Caller(1, account_id, "reader@example.org", frozenset({BuiltinGroup.USER}), 1)


@pytest.fixture
def new_job(kind, settings, account_id, tmp_path):
    """Makes the job of a command; whatever it started is ended with the test."""
    root = tmp_path / "command"
    root.mkdir()

    def new_job(*, macros=None, attempts=None, **command: str) -> Job:
        row = (
            NEW_ROW
            | {"folder_key": "0a1b"}
            | {
                "id": 7,
                "account_id": account_id,
                "user_id": 1,
                "command": dict.fromkeys(FIELDS) | command,
                "resolved_macros": macros,
                "attempts": attempts,
                "next_attempt_at": None,
                "progress": 0,
                "result_rows": None,
                "start_time": time.time(),
                "timeout": None,
                "retry": 0,
                "retry_delay": None,
            }
        )

        async def note(_values) -> None:
            """Nothing is kept between attempts here."""

        return Job(CommandRow.new(row), kind, settings, root=root, note=note, on_progress=lambda: None)

    yield new_job
    for process in marked_processes():
        if (mark_of(process) or "").startswith(str(root)):
            with suppress(psutil.NoSuchProcess):
                process.kill()


async def output_of(job: Job) -> str:
    """Run a job that succeeds and return its result."""
    final = await job.run()
    assert final["status"] == "done", final["message"]
    assert final["result"]["form"] == "lines"
    text = (job.root / final["result"]["file"]).read_text()
    assert final["result"]["size"] == len(text.encode())
    return text


async def happens(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds that nothing announces."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  a file tells nobody that it is there
            await asyncio.sleep(0.005)


def log_of(job: Job) -> str:
    return (job.root / "log").read_text()


# What a submission is


async def test_the_record_s_command_has_every_field(kind, caller):
    described = await kind.describe({"inline": "echo", "archive": "a.zip", "files": "", "command_type": "x"}, caller)
    assert described == {
        "inline": "echo",
        "archives": "a.zip",
        "files": None,
        "parameters": None,
        "script_location": None,
    }


async def test_the_forms_of_a_cell_are_variables_of_its_script(kind, caller, new_job):
    body = {
        "inline": "echo ${day=1} '${name}' \"${password:pin}\" ${HOME:-x}; not_there $${day=1}",
        "cell": {"forms": {"name": "$(id)", "pin": "hunter2", "of_another_cell": "1"}},
    }
    command = await kind.describe(body, caller)
    assert "hunter2" not in json.dumps(command)
    shown = {"inline": body["inline"], "cell": {"forms": {"name": "$(id)", "pin": "<hidden>"}}}
    assert public(command) == dict.fromkeys(FIELDS) | shown
    job = new_job(**command)
    final = await job.run()
    assert (job.root / "1" / "out").read_text() == f"1 $(id) hunter2 {os.environ['HOME']}\n"
    assert final["message"].splitlines()[1:] == [
        "line 1: not_there: command not found",
        f"script, line 1: {body['inline']}",
    ]


async def test_a_form_with_line_breaks_does_not_move_the_line_of_an_error(kind, caller, new_job):
    command = await kind.describe({"inline": "echo ${day=1,\n1|\n2}\nnot_there", "cell": {}}, caller)
    message = (await new_job(**command).run())["message"]
    assert message.splitlines()[1:] == ["line 2: not_there: command not found", "script, line 2: not_there"]


async def test_without_a_cell_a_script_is_run_as_it_is(kind, caller, new_job):
    command = await kind.describe({"inline": "echo ${day=1} '${name=x}'"}, caller)
    assert await output_of(new_job(**command)) == "1 ${name=x}\n"


async def test_the_values_of_a_cell_are_checked(kind, caller, new_job):
    with pytest.raises(Invalid, match=r"^cell\.forms: form day has no option '3'; there are 1, 2$"):
        await kind.describe({"inline": "echo ${day=1,1|2}", "cell": {"forms": {"day": "3"}}}, caller)
    script = {"inline": "echo ${password:pin}"}
    with pytest.raises(Invalid, match=r"^cell\.forms\.pin: is hidden in records"):
        await kind.describe(script | {"cell": {"forms": {"pin": "<hidden>"}}}, caller)
    with pytest.raises(Invalid, match=r"^cell\.forms\.x: must be a text, a number"):
        await kind.describe(script | {"cell": {"forms": {"x": {}}}}, caller)
    # What holds a macro is known only at the run.
    command = await kind.describe({"inline": "echo ${day=1,1|2}", "cell": {"forms": {"day": "$x$"}}}, caller)
    assert (await new_job(**command).run())["message"] == "forms: form day has no option '$x$'; there are 1, 2"


async def test_exactly_one_script_is_needed(kind, caller):
    async def refusal(body):
        with pytest.raises(ValidationError) as refused:
            await kind.describe(body, caller)
        return explain(refused.value)

    wrong = ({}, {"inline": ""}, {"inline": " \n"}, {"inline": "echo", "script_location": "a.sh"})
    assert {await refusal(body) for body in wrong} == {"give exactly one of inline and script_location"}
    assert await refusal({"script_location": "a.sh", "cell": {}}) == "cell: goes with inline"
    assert await refusal({"inline": 1}) == "inline: Input should be a valid string"
    assert await refusal({"inline": "echo", "files": ["a"]}) == "files: Input should be a valid string"


INVALID = [
    ({"inline": "echo\0"}, "inline holds a NUL character"),
    ({"inline": "echo \ud800"}, "inline holds a character that is not Unicode (a lone surrogate)"),
    ({"inline": "echo", "parameters": "a\0"}, "parameters holds a NUL character"),
    ({"inline": "echo", "parameters": "it's"}, "parameters cannot be split as a shell does: no closing quotation"),
    (
        {"script_location": "ftp://host/a.sh"},
        "script_location: the location ftp://host/a.sh has an unknown scheme; known are file://, s3://, gs://, az://, "
        "abfss:// and https://",
    ),
    (
        {"script_location": "file:///etc/passwd"},
        "script_location: file:///etc/passwd is outside the folders that this service may read; "
        "put the file into the account's storage, or have the operator add its folder to file_roots",
    ),
    ({"script_location": "s3://lake/"}, "s3://lake names a folder; give the location of a file"),
    (
        {"inline": "echo", "files": "a, ../b"},
        "files: the location ../b must not hold '.' or '..' as a part of its path",
    ),
    (
        {"inline": "echo", "files": "one/a,two/a"},
        "file://STORAGE/one/a and file://STORAGE/two/a would both be 'a' in the working folder",
    ),
    (
        {"inline": "echo", "files": "a.zip", "archives": "x/a.zip"},
        "file://STORAGE/a.zip and file://STORAGE/x/a.zip would both be 'a.zip' in the working folder",
    ),
    (
        {"inline": "echo", "archives": "a.rar"},
        "a.rar is not an archive that can be unpacked; known are .zip, .jar, .tar, .tar.gz, .tgz",
    ),
    (
        {"script_location": "https://reader:secret@host/a.sh"},
        "script_location: the location https://host/a.sh must not hold a user or a password; use a signed URL",
    ),
]


async def test_an_invalid_shell_command_is_refused_at_submission(kind, caller, settings):
    async def refusal(body):
        with pytest.raises(Invalid) as refused:
            await kind.describe(body, caller)
        return refused.value.message.replace(str(settings.storage_dir), "STORAGE")

    assert [(body, await refusal(body)) for body, _ in INVALID] == INVALID


async def test_more_files_than_are_fetched_for_a_command_are_refused(kind, caller):
    with pytest.raises(Invalid, match=r"^files names 1001 locations; at most 1000 are fetched for a command$"):
        await kind.describe({"inline": "echo", "files": ",".join(f"f{number}" for number in range(1001))}, caller)


async def test_a_location_with_a_macro_is_checked_when_it_is_known(kind, caller, new_job, lake):
    body = {"inline": "cat *", "files": "$day$/a,s3://$bucket$/b", "archives": "$archive$"}
    assert (await kind.describe(body, caller))["files"] == body["files"]
    (lake / "2026-11-21").mkdir()
    (lake / "2026-11-21" / "a").write_text("found\n")
    job = new_job(inline="cat a", files="$day$/a", macros=[{"day": "2026-11-21"}])
    assert await output_of(job) == "found\n"
    final = await new_job(inline="cat a", files="$day$/a", macros=[{"day": "../.."}], attempts=[{"end_time": 1}]).run()
    assert final["status"] == "error"
    assert "'..'" in final["message"]


def test_parameters_are_split_as_a_shell_does(settings):
    words = {
        None: [],
        "": [],
        "a  b": ["a", "b"],
        "'a b' c\\ d \"e'f\"": ["a b", "c d", "e'f"],
        "$HOME *": ["$HOME", "*"],
    }
    assert {text: split_parameters(text) for text in words} == words


# What a script sees


async def test_a_script_s_stdout_is_the_result_and_its_stderr_the_log(new_job):
    job = new_job(inline="echo out; echo err >&2; printf 'no end'")
    assert await output_of(job) == "out\nno end"
    assert log_of(job) == "err\n"


async def test_a_script_is_bash_in_an_empty_folder_with_no_input(new_job):
    job = new_job(inline='[[ -n $BASH_VERSION ]] && pwd && ls -A && wc -c; echo "$#"')
    assert await output_of(job) == f"{job.root / '1' / 'work'}\n0\n0\n"


async def test_parameters_reach_the_script_as_they_are(new_job):
    job = new_job(inline='printf "<%s>" "$@"', parameters="a 'b  c' '$HOME' '*' -x \u00e9")
    assert await output_of(job) == "<a><b  c><$HOME><*><-x><\u00e9>"


async def test_a_large_script_with_any_characters_runs(new_job):
    job = new_job(inline="# " + "x" * 3_000_000 + "\necho '\u00e9\u4e2d' \"$'\\x41'\"\r\n".replace("\r", ""))
    assert await output_of(job) == "\u00e9\u4e2d $'\\x41'\n"


async def test_the_script_s_text_is_in_no_process_list(new_job):
    job = new_job(inline="secret_in_the_script=1; tr '\\0' ' ' </proc/$$/cmdline; tr '\\0' ' ' </proc/$PPID/cmdline")
    assert "secret_in_the_script" not in await output_of(job)
    assert oct((job.root / "1" / SCRIPT).stat().st_mode)[-3:] == "600"


async def test_a_script_gets_the_environment_less_what_is_the_service_s_own(new_job, monkeypatch):
    lines = dict(line.partition("=")[::2] for line in (await output_of(new_job(inline="env"))).splitlines())
    assert lines["SVC_COMMAND_ID"] == "7"
    assert lines["PATH"] == os.environ["PATH"]
    assert "SVC_API_TOKEN" not in lines
    assert "SVC_DATABASE_URL" not in lines


# What is fetched


async def test_script_files_and_archives_are_fetched(new_job, lake):
    (lake / "run.sh").write_text('cat data.txt lib.zip/a.txt "$1"\n')
    (lake / "data.txt").write_text("data\n")
    with zipfile.ZipFile(lake / "lib.zip", "w") as archive:
        archive.writestr("a.txt", "zipped\n")
    with tarfile.open(lake / "more.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("deep/b.txt")
        member.size = 7
        archive.addfile(member, io.BytesIO(b"tarred\n"))
    job = new_job(
        script_location="run.sh",
        files=f"data.txt,file://{lake}/run.sh",
        archives="lib.zip, more.tar.gz",
        parameters="more.tar.gz/deep/b.txt",
    )
    assert await output_of(job) == "data\nzipped\ntarred\n"
    assert sorted(entry.name for entry in (job.root / "1" / "work").iterdir()) == [
        "data.txt",
        "lib.zip",
        "more.tar.gz",
        "run.sh",
    ]
    log = log_of(job)
    assert f"fetched file://{lake}/data.txt: 5 bytes" in log
    assert "unpacked lib.zip: 1 entries, 7 bytes" in log


async def test_a_missing_file_ends_the_command_before_the_script_runs(new_job):
    job = new_job(inline="echo ran", files="nothing.txt")
    final = await job.run()
    assert final["status"] == "error"
    assert final["message"].endswith("storage/nothing.txt does not exist")
    assert not (job.root / "1" / "out").exists()


async def test_a_hostile_archive_ends_the_command_before_the_script_runs(new_job, lake):
    with tarfile.open(lake / "bad.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("../../script.sh"), io.BytesIO())
    job = new_job(inline="echo ran", archives="bad.tar")
    final = await job.run()
    assert final["status"] == "error"
    assert final["message"] == "bad.tar cannot be unpacked: '../../script.sh' leads out of its folder"
    assert not (job.root / "1" / "work" / "bad.tar").exists()


async def test_a_bomb_ends_the_command(new_job, lake, settings):
    settings.max_unpacked_bytes = 1_000_000
    with zipfile.ZipFile(lake / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2_000_000))
    final = await new_job(inline="echo ran", archives="bomb.zip").run()
    assert final["status"] == "error"
    assert "bomb.zip is larger than 1.0 MB" in final["message"]


async def test_an_interrupted_fetch_starts_afresh(new_job, lake):
    (lake / "a").write_text("whole\n")
    job = new_job(inline="cat a; ls", files="a")
    work = job.root / "1" / "work"
    (work / "half.zip").mkdir(parents=True)
    (work / "a").write_text("hal")
    assert await output_of(job) == "whole\na\n"


async def test_a_cancel_while_fetching_ends_without_a_process(new_job, lake, monkeypatch):
    take = Room.take

    def hold(room, size):
        take(room, size)
        room.stop.wait(30)

    monkeypatch.setattr(Room, "take", hold)
    (lake / "big").write_bytes(b"")
    os.truncate(lake / "big", 2_000_000_000)
    job = new_job(inline="echo ran", files="big")
    running = asyncio.create_task(job.run())
    await happens((job.root / "1" / "work" / "big").exists)
    job.stop(StopReason.CANCEL)
    final = await running
    assert final["status"] == "cancelled"
    assert not (job.root / "1" / "out").exists()
    await happens(lambda: not (job.root / "1" / "work" / "big").exists())


# How it ends


async def test_a_failing_script_says_its_code_and_its_last_words(new_job):
    job = new_job(inline="for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; echo; nosuchprogram; exit 3")
    final = await job.run()
    assert (final["status"], final["attempts"][0]["exit_code"]) == ("error", 3)
    first, *rest = final["message"].splitlines()
    assert first == "the script exited with code 3"
    assert rest[:-1] == ["line 4", "line 5", "line 6", "line 7"]
    assert rest[-1] == "line 1: nosuchprogram: command not found"
    assert final["result"] is None


async def test_the_line_that_a_script_failed_at_is_named(new_job):
    final = await new_job(inline="echo a\nnosuch -x\n").run()
    assert final["message"].splitlines()[-1] == "script, line 2: nosuch -x"


async def test_a_silent_failure_has_nothing_to_add(new_job):
    assert (await new_job(inline="exit 1").run())["message"] == "the script exited with code 1"


async def test_lines_of_the_service_are_not_taken_for_the_script_s(new_job, lake):
    (lake / "a").write_text("x")
    job = new_job(inline="exit 4", files="a")
    assert (await job.run())["message"] == "the script exited with code 4"
    assert "fetched" in log_of(job)


async def test_a_long_last_line_and_odd_bytes_are_shown_in_part(new_job):
    job = new_job(inline="head -c 100000 /dev/zero | tr '\\0' x >&2; printf '\\nbad \\xff\\n' >&2; exit 1")
    message = (await job.run())["message"]
    assert message.endswith("bad \ufffd")
    assert len(message) < 1000


@pytest.mark.parametrize(("name", "number"), [("KILL", 9), ("SEGV", 11)])
async def test_a_killed_script_names_the_signal(new_job, name, number):
    final = await new_job(inline=f"kill -{name} $$").run()
    assert f"was killed by signal {number} (SIG{name})" in final["message"].splitlines()[0]
    assert final["attempts"][0]["exit_code"] == 128 + number


async def test_an_exit_code_that_is_no_signal_stays_a_code(new_job):
    assert (await new_job(inline="exit 255").run())["message"] == "the script exited with code 255"


async def test_a_running_script_is_found_again_and_runs_once(new_job):
    job = new_job(inline="echo began >&2; until [[ -e ../go ]]; do sleep 0.01; done; echo done")
    first = asyncio.create_task(job.run())
    await happens(lambda: (job.root / "log").exists() and log_of(job) == "began\n")
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    again = new_job(inline="echo this must not run")
    second = asyncio.create_task(again.run())
    (job.root / "1" / "go").touch()
    final = await second
    assert final["status"] == "done"
    assert (job.root / "1" / "out").read_text() == "done\n"
    assert log_of(job) == "began\n"


async def test_a_script_that_is_lost_is_reported_as_such(new_job):
    """Both the script and its wrapper are killed while no service watches."""
    job = new_job(inline="echo began >&2; exec sleep 1000")
    first = asyncio.create_task(job.run())
    await happens(lambda: (job.root / "log").exists() and log_of(job) == "began\n")
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    process = DurableProcess.adopt(job.root / "1")
    assert process is not None
    os.killpg(process.pid, 9)
    await asyncio.to_thread(os.waitpid, process.pid, 0)
    final = await new_job(inline="echo this must not run").run()
    assert final["status"] == "error"
    assert final["message"].startswith("the script is gone without an exit code")


async def test_without_bash_the_command_says_so(new_job, kind, tmp_path):
    (tmp_path / "bin").mkdir()
    kind._environment["PATH"] = str(tmp_path / "bin")
    assert shutil.which("bash", path=kind._environment["PATH"]) is None
    final = await new_job(inline="echo").run()
    assert final["status"] == "error"
    assert "code 127" in final["message"]
    assert "bash" in final["message"]
