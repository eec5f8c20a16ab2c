"""`JupyterNotebookCommand`: what is refused, how a run becomes a result, and what comes back to the source."""

from __future__ import annotations

import asyncio
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from pydantic import ValidationError
from tests.support.until import until

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.ground.errors import DatabaseAway, Forbidden, Invalid, NotFound
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.validation import explain
from svc_jupyter.service.kinds.notebook.kind import JupyterNotebookKind
from svc_jupyter.service.kinds.notebook.service_access import ServiceAccess
from svc_jupyter.service.processes.durable_process import DurableProcess

CALLER = Caller(1, 1, "user@example.org", frozenset({BuiltinGroup.USER}), 1)


class Folder:
    """Notebooks in a folder, without rights."""

    def __init__(self, folder):
        self.folder = folder
        self.refuses = False

    def check_notebook(self, path, caller):
        self._file(path)

    def read_notebook(self, path, *, account_id, users):
        return self._file(path).read_text()

    def replace_notebook(self, path, text, *, account_id, users, command_id):
        if self.refuses:
            raise Forbidden("update on jupyter_notebook is missing")
        self._file(path).write_text(text)

    def _file(self, path):
        if not (self.folder / path).exists():
            raise NotFound(f"there is no {path}")
        return self.folder / path


class Workers:
    """Starts a script in place of a run: what a run leaves in its folder is all that the kind sees of it."""

    def __init__(self):
        self.script = ""
        self.jobs = []
        self.warmed = 0

    def warm(self):
        self.warmed += 1

    async def start(self, job):
        self.jobs.append(job)
        return DurableProcess.start(
            folder=job.folder, argv=["bash", "-c", self.script], cwd=job.folder, environment={}, log=job.log
        )


class Desk:
    """Keeps what is said, and starts what is not there yet."""

    def __init__(self, folder):
        self.folder = folder
        self.said = []
        self.told = []

    def say(self, line):
        self.said.append(line)

    def progress(self, percent, rows=None):
        self.told.append(percent)

    async def process(self, start):
        return DurableProcess.adopt(self.folder) or await start()


@pytest.fixture
def notebooks(tmp_path):
    (tmp_path / "Common").mkdir()
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), tmp_path / "Common" / "n.ipynb")
    return Folder(tmp_path)


@pytest.fixture
def source(notebooks):
    return notebooks.folder / "Common" / "n.ipynb"


class NoEnvironments:
    """Stands for clusters without package environments."""

    async def of_label(self, account_id, label, env_type=None, *, command_id):
        return None


class Tokens:
    """Makes tokens that tell apart."""

    def __init__(self):
        self.made = 0
        self.ended = []
        self.refuses = False
        self.is_away = False

    def create(self, command_id):
        if self.refuses:
            raise Forbidden("two users")
        self.made += 1
        return f"token {self.made} of {command_id}"

    def end(self, command_id):
        if self.is_away:
            raise DatabaseAway("the database is away")
        self.ended.append(command_id)


@pytest.fixture
def tokens():
    return Tokens()


@pytest.fixture
def serving(notebooks, workers, tmp_path, tokens):
    """Makes the kind of a service at an address."""

    def serving(base_url="http://127.0.0.1:7001"):
        settings = Settings(data_dir=tmp_path, min_free_disk_bytes=5)
        return JupyterNotebookKind(notebooks, workers, settings, NoEnvironments(), ServiceAccess(tokens, base_url))

    return serving


@pytest.fixture
def workers():
    return Workers()


@pytest.fixture
def kind(notebooks, workers, tmp_path):
    settings = Settings(data_dir=tmp_path, min_free_disk_bytes=5)
    return JupyterNotebookKind(notebooks, workers, settings, NoEnvironments(), ServiceAccess(Tokens(), None))


@pytest.fixture
def task(tmp_path):
    command = {"path": "Common/n.ipynb", "arguments": {"a": 1}, "upload_to_source": True}
    task = Task(7, 1, 1, 1, command, tmp_path / "7", environment={"SVC_COMMAND_ID": "7"})
    task.working_folder.mkdir(parents=True)
    return task


@pytest.fixture
def desk(task):
    return Desk(task.folder)


SUCCEED = "echo executed >executed.ipynb; printf 42 >result.txt; echo '{\"size\": 2}' >result.json"


async def test_a_submission_is_described_whole(kind, workers):
    body = {"path": "Common/n.ipynb", "arguments": '{"a": 1, "b": "x", "c": true, "d": 1.5}', "retry": 2, "other": 1}
    assert await kind.describe(body, CALLER) == {
        "path": "Common/n.ipynb",
        "arguments": {"a": 1, "b": "x", "c": True, "d": 1.5},
        "upload_to_source": True,
        "retry": 2,
        "retry_delay": None,
    }
    assert workers.warmed == 1


async def test_nulls_are_as_if_they_were_not_there(kind):
    body = {"path": "Common/n.ipynb", "arguments": None, "upload_to_source": None, "retry": None}
    assert (await kind.describe(body, CALLER))["arguments"] == {}


NO_NAME = "is not a variable name (letters, digits and _, not first a digit)"
NO_ARGUMENT = "arguments: 'a' must be a string, integer, float or boolean"
WRONG = [
    ({"path": None}, "path: Field required"),
    ({"path": ""}, "path: String should have at least 1 character"),
    ({"path": "a\0.ipynb"}, r"path: String should match pattern '^[^\x00]*$'"),
    ({"path": 5}, "path: Input should be a valid string"),
    ({"arguments": []}, "arguments: Input should be a valid dictionary"),
    ({"arguments": "{"}, 'arguments: must be an object, or the JSON text of one, such as {"day": "2026-01-31"}'),
    ({"arguments": "[1]"}, "arguments: Input should be a valid dictionary"),
    ({"arguments": {"a": None}}, NO_ARGUMENT),
    ({"arguments": {"a": {}}}, NO_ARGUMENT),
    ({"arguments": '{"a": NaN}'}, "arguments: 'a' must be a finite number"),
    ({"arguments": {"a": 2**63}}, "arguments: 'a' does not fit into 64 bits"),
    ({"arguments": {"a": "\0"}}, "arguments: 'a' holds a NUL character"),
    ({"arguments": {"a": "\ud800"}}, "arguments: 'a' holds a character that is not Unicode (a lone surrogate)"),
    ({"arguments": {"a b": 1}}, f"arguments: 'a b' {NO_NAME}"),
    ({"arguments": {"x=1;y": 1}}, f"arguments: 'x=1;y' {NO_NAME}"),
    ({"arguments": {"": 1}}, f"arguments: '' {NO_NAME}"),
    ({"upload_to_source": "yes"}, "upload_to_source: Input should be a valid boolean"),
    ({"retry": 0}, "retry: Input should be greater than or equal to 1"),
    ({"retry": 4}, "retry: Input should be less than or equal to 3"),
    ({"retry_delay": -1}, "retry_delay: Input should be greater than or equal to 0"),
]


async def test_a_field_that_is_wrong_is_refused_and_named(kind):
    async def refusal(fields):
        with pytest.raises(ValidationError) as refused:
            await kind.describe({"path": "Common/n.ipynb", **fields}, CALLER)
        return explain(refused.value)

    assert [(fields, await refusal(fields)) for fields, _ in WRONG] == WRONG


async def test_a_notebook_that_is_not_there_is_refused_unless_a_macro_stands_in_its_path(kind):
    with pytest.raises(Invalid, match=r"path: there is no Common/m.ipynb"):
        await kind.describe({"path": "Common/m.ipynb"}, CALLER)
    assert (await kind.describe({"path": "Common/$day$.ipynb"}, CALLER))["path"] == "Common/$day$.ipynb"


async def test_a_run_that_succeeds_has_its_text_as_result_and_replaces_the_source(kind, task, desk, source, workers):
    before = source.read_text()
    workers.script = SUCCEED
    outcome = await kind.run(task, desk)
    assert (outcome.succeeded, outcome.exit_code) == (True, 0)
    assert (outcome.result.form, outcome.result.file, outcome.result.size) == ("lines", "1/result.txt", 2)
    assert source.read_text() == "executed\n"
    assert desk.said == ["Common/n.ipynb was replaced by its executed copy"]
    assert (task.folder / "source.ipynb").read_text() == before
    (job,) = workers.jobs
    assert (job.notebook, job.arguments) == ("Common/n.ipynb", {"a": 1})
    assert job.environment == {"SVC_COMMAND_ID": "7", "JPY_SESSION_NAME": "n.ipynb"}
    assert (job.folder, job.log, job.min_free_bytes) == (task.folder, task.log_file, 5)


async def test_a_run_without_text_succeeds_without_a_result(kind, task, desk, workers):
    workers.script = "echo executed >executed.ipynb; echo '{\"size\": null}' >result.json"
    outcome = await kind.run(task, desk)
    assert outcome.succeeded
    assert outcome.result is None


async def test_the_source_stays_where_that_is_asked_for(kind, task, desk, source, workers):
    before = source.read_text()
    task.command["upload_to_source"] = False
    workers.script = SUCCEED
    assert (await kind.run(task, desk)).succeeded
    assert source.read_text() == before
    assert desk.said == []


async def test_an_edit_made_during_the_run_is_not_lost(kind, task, desk, source, workers):
    workers.script = f"echo edited >{source}; {SUCCEED}"
    assert (await kind.run(task, desk)).succeeded
    assert source.read_text() == "edited\n"
    assert desk.said == [
        "Common/n.ipynb was changed during the run and stays as it is; the executed copy is in the results"
    ]


async def test_a_source_that_is_gone_or_may_not_be_written_fails_no_run(kind, task, desk, source, workers, notebooks):
    workers.script = SUCCEED
    notebooks.refuses = True
    assert (await kind.run(task, desk)).succeeded
    source.unlink()
    assert (await kind.run(task, desk)).succeeded
    assert [line.rpartition(": ")[2] for line in desk.said] == [
        "update on jupyter_notebook is missing",
        "there is no Common/n.ipynb",
    ]


async def test_a_service_that_was_killed_after_it_replaced_the_source_finds_its_own_doing(
    kind, task, desk, source, workers
):
    workers.script = SUCCEED
    await kind.run(task, desk)
    outcome = await kind.run(task, desk)
    assert outcome.succeeded
    assert len(workers.jobs) == 1
    assert desk.said == 2 * ["Common/n.ipynb was replaced by its executed copy"]


async def test_a_run_whose_environment_cannot_be_read_is_no_failed_run(kind, task, desk, workers, monkeypatch):
    """The job of the command begins it again, once the database is there."""

    async def of_label(self, account_id, label, env_type=None, *, command_id):
        raise DatabaseAway("away")

    workers.script = SUCCEED
    with monkeypatch.context() as away:
        away.setattr(NoEnvironments, "of_label", of_label)
        with pytest.raises(DatabaseAway):
            await kind.run(task, desk)
    assert (await kind.run(task, desk)).succeeded


async def test_a_run_that_fails_says_why_and_leaves_the_source(kind, task, desk, source, workers):
    before = source.read_text()
    error = json.dumps({"message": "cell 1 of 1: no", "may_retry": False})
    workers.script = f"echo executed >executed.ipynb; echo '{error}' >error.json; exit 1"
    outcome = await kind.run(task, desk)
    assert (outcome.succeeded, outcome.message, outcome.exit_code, outcome.may_retry) == (
        False,
        "cell 1 of 1: no",
        1,
        False,
    )
    assert source.read_text() == before


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 70", "the process of the run ended before it: it failed with code 70; the log says more"),
        ("exit 137", "the process of the run ended before it: it was ended by signal 9"),
        ("kill -9 $PPID", "the process of the run ended before it: it was killed (did memory run out?)"),
    ],
)
async def test_a_process_that_leaves_no_reason_is_reported(kind, task, desk, workers, script, told):
    workers.script = script
    outcome = await kind.run(task, desk)
    assert not outcome.succeeded
    assert outcome.message.startswith(told)


async def test_a_notebook_that_went_before_the_run_fails_it_for_good(kind, task, desk, source):
    source.unlink()
    outcome = await kind.run(task, desk)
    assert (outcome.succeeded, outcome.may_retry) == (False, False)
    assert outcome.message == "there is no Common/n.ipynb"


async def test_progress_is_reported_while_cells_are_done(kind, task, desk, workers, tmp_path):
    workers.script = f"echo 33 >part; mv part progress; until [ -e {tmp_path}/go ]; do sleep 0.02; done; {SUCCEED}"

    class Waiting(Desk):
        def progress(self, percent, rows=None):
            super().progress(percent, rows)
            (tmp_path / "go").touch()

    waiting = Waiting(task.folder)
    assert (await kind.run(task, waiting)).succeeded
    assert waiting.told[0] == 33


async def test_a_run_gets_the_path_of_a_file_with_address_and_token_that_is_gone_at_its_end(
    serving, task, desk, workers, tokens
):
    file = task.folder / "access" / "connection.json"
    workers.script = f"cp -p {file} seen; {SUCCEED}"
    assert (await serving().run(task, desk)).succeeded
    (job,) = workers.jobs
    assert job.environment["SVC_CONNECTION_FILE"] == str(file)
    assert json.loads((task.folder / "seen").read_text()) == {
        "base_url": "http://127.0.0.1:7001",
        "token": "token 1 of 7",
    }
    assert (task.folder / "seen").stat().st_mode & 0o777 == 0o600
    assert (file.exists(), tokens.ended) == (False, [7])


async def test_a_run_without_a_token_is_told_why(serving, task, desk, workers, tokens):
    tokens.refuses = True
    workers.script = f"cp {task.folder}/access/connection.json seen; {SUCCEED}"
    assert (await serving().run(task, desk)).succeeded
    seen = json.loads((task.folder / "seen").read_text())
    assert seen == {"base_url": "http://127.0.0.1:7001", "refusal": "two users"}


async def test_the_next_service_writes_its_address_and_keeps_the_token(serving, task, desk, workers, tokens):
    file = task.folder / "access" / "connection.json"
    workers.script = (
        f"echo 1 >part; mv part progress; until grep -q 7002 {file}; do sleep 0.02; done; cp {file} seen; {SUCCEED}"
    )
    first = asyncio.create_task(serving().run(task, desk))
    await until(lambda: desk.told)
    first.cancel()  # the service stops
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (file.exists(), tokens.ended) == (True, [])
    assert (await serving("http://127.0.0.1:7002").run(task, desk)).succeeded
    seen = json.loads((task.folder / "seen").read_text())
    assert seen == {"base_url": "http://127.0.0.1:7002", "token": "token 1 of 7"}
    assert (file.exists(), tokens.made) == (False, 1)


@pytest.mark.parametrize("change", ["rm access/connection.json", "echo damaged >access/connection.json"])
async def test_a_run_succeeds_with_a_damaged_connection_file_and_an_unavailable_database(
    serving, task, desk, workers, tokens, change
):
    tokens.is_away = True
    workers.script = f"cd {task.folder}; {change}; {SUCCEED}"
    assert (await serving().run(task, desk)).succeeded
