"""A shell command whose script, files and archives are in a real S3 server."""

from __future__ import annotations

import io
import time
import zipfile

import pytest

from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.commands.job import Job
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.kinds.shell.kind import ShellKind
from svc_jupyter.service.workspace.form_arguments import CellForms

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
def run(storage, settings, admin, s3, account_id, tmp_path):
    """Stores credentials, submits a command and runs it; returns its final values, its root and its log."""

    forms = CellForms(SecretBox(settings.data_dir / "secret.key"))

    async def run(secret_key: str, **body: str):
        given = {"url": "s3://lake", "access_key": s3.access_key, "secret_key": secret_key, "endpoint": s3.endpoint}
        storage.replace(StorageUpdate.model_validate(given), by=admin)
        kind = ShellKind(storage, forms, settings)
        command = await kind.describe(body, admin)
        root = tmp_path / "command"
        root.mkdir()
        given_row = {"id": 7, "account_id": account_id, "user_id": 1, "command": command, "start_time": time.time()}
        row = {"folder_key": "0a1b"} | given_row

        async def note(_values) -> None:
            """Nothing is kept between attempts here."""

        final = await Job(CommandRow.new(row), kind, settings, root=root, note=note, on_progress=lambda: None).run()
        return final, root, (root / "log").read_text()

    return run


async def test_script_files_and_archives_come_with_the_account_s_credentials(run, s3):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("a.txt", "zipped\n")
    s3.put("bin/run.sh", b'cat "$1" lib.zip/a.txt\n')
    s3.put("in/data.txt", b"data\n")
    s3.put("lib.zip", archive.getvalue())
    final, root, log = await run(
        s3.secret_key,
        script_location="s3://lake/bin/run.sh",
        files="in/data.txt",
        archives="s3://lake/lib.zip",
        parameters="data.txt",
    )
    assert final["status"] == "done", final["message"]
    assert (root / final["result"]["file"]).read_text() == "data\nzipped\n"
    assert "fetched s3://lake/in/data.txt: 5 bytes" in log


async def test_wrong_credentials_end_the_command_and_are_shown_nowhere(run, s3):
    s3.put("run.sh", b"echo ran\n")
    final, root, log = await run("the-wrong-secret", script_location="s3://lake/run.sh")
    assert final["status"] == "error"
    assert final["message"].startswith("s3://lake/run.sh: access denied (SignatureDoesNotMatch")
    for secret in ("the-wrong-secret", s3.access_key, s3.secret_key):
        assert secret not in final["message"] + log
    assert not (root / "1" / "out").exists()
