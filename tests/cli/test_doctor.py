from __future__ import annotations

import os
from pathlib import Path

import pytest

from svc_jupyter.cli.checks import installation
from svc_jupyter.cli.embedded import embedded_client
from svc_jupyter.cli.main import main


@pytest.fixture
def doctor(data_dir: Path, capsys: pytest.CaptureFixture[str]):
    def run() -> tuple[int, str]:
        code = main(["doctor"])
        return code, capsys.readouterr().out

    return run


def finding(output: str, about: str) -> str:
    """Return the line about something, with the line of its fix."""
    lines = output.splitlines()
    number = next(number for number, line in enumerate(lines) if line[2:].startswith(about))
    fix = lines[number + 1] if lines[number + 1].strip().startswith("→") else ""
    return f"{lines[number]}\n{fix}".strip()


def test_a_fresh_installation_is_ready_to_use(doctor, data_dir: Path):
    code, output = doctor()
    assert code == 0
    assert output.splitlines()[-1] == "ready to use"
    assert finding(output, "service") == "✓ service        not running; the first use of a magic starts it"
    assert finding(output, "data folder").startswith("✓")
    assert "svc-jupyter init --demo" in finding(output, "demo data")
    assert not data_dir.exists()


@pytest.mark.service
def test_a_running_service_is_reported_with_address_and_user(doctor, service: Path, capsys: pytest.CaptureFixture[str]):
    with embedded_client() as client:
        client.account.get()
        code, output = doctor()
        assert code == 0
        assert client.base_url in finding(output, "service")
        assert "admin@localhost (system-admin)" in finding(output, "service")
        assert main(["doctor", "--url", client.base_url or ""]) == 0
    output = capsys.readouterr().out
    assert finding(output, "readiness").startswith("✓")
    assert "none for this address: calls are not checked" in finding(output, "token")
    assert "large bodies" not in output


def test_a_data_folder_below_a_file_is_wrong(doctor, data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    data_dir.touch()
    monkeypatch.setenv("SVC_DATA_DIR", str(data_dir / "deeper"))
    code, output = doctor()
    assert code == 1
    assert finding(output, "data folder").startswith("✗")
    assert "set SVC_DATA_DIR" in finding(output, "data folder")


def test_a_data_folder_that_others_can_read_is_noted_with_the_command_for_it(doctor, data_dir: Path):
    data_dir.mkdir(mode=0o755)
    data_dir.chmod(0o755)
    code, output = doctor()
    assert code == 0
    assert f"chmod 700 '{data_dir}'" in finding(output, "data folder")


def test_without_bash_shell_commands_cannot_run(doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, output = doctor()
    assert code == 1
    assert finding(output, "bash").startswith("✗")


def test_an_extra_that_is_missing_is_named_with_what_it_gives(doctor, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installation, "requires", lambda _: ['not-there-at-all>=2; extra == "service"'])
    code, output = doctor()
    assert code == 1
    assert "not-there-at-all missing" in finding(output, "extra service")
    assert "pip install 'svc-jupyter[service]'" in finding(output, "extra service")
    assert finding(output, "extra demo").startswith("✓")


def test_the_packages_of_an_extra_are_read_from_the_requirements():
    requirements = [
        "httpx>=0.28",
        "psycopg[binary]>=3.2; extra == 'service'",
        "fastapi>=0.115; python_version >= '3.11' and extra == \"service\"",
        "svc-jupyter[service]; extra == 'demo'",
        "jupyterlab>=4.4; extra == 'demo'",
    ]
    assert installation.packages_of("service", requirements) == ["psycopg", "fastapi"]
    assert installation.packages_of("demo", requirements) == ["jupyterlab"]


def test_a_remote_service_that_does_not_answer_is_wrong_and_its_token_is_not_shown(
    doctor, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SVC_API_TOKEN", "s3cret-token")
    code, output = doctor()
    assert code == 1
    assert finding(output, "service").startswith("✗ service        http://127.0.0.1:9 (from the environment)")
    assert "s3cret-token" not in output


def test_a_user_of_a_remote_service_need_not_install_the_service(doctor, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installation, "requires", lambda _: ['not-there-at-all>=2; extra == "service"'])
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SVC_API_TOKEN", "s3cret-token")
    _, output = doctor()
    assert finding(output, "extra service").startswith("!")
    assert "\n✓ database" not in output


def test_a_profile_file_with_a_token_that_others_can_read_is_wrong(doctor):
    folder = Path(os.environ["HOME"]) / ".config" / "svc-jupyter"
    folder.mkdir(parents=True)
    profile = folder / "config.toml"
    profile.write_text('[profiles.default]\nbase_url = "http://127.0.0.1:9"\ntoken = "s3cret-token"\n')
    profile.chmod(0o644)
    code, output = doctor()
    assert code == 1
    assert f"chmod 600 '{profile}'" in finding(output, "configuration")
    assert "s3cret-token" not in output


def test_a_database_that_does_not_answer_is_reported_without_its_password(doctor, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_DATABASE_URL", "postgresql://reader:s3cret-word@127.0.0.1:9/svc")
    code, output = doctor()
    assert code == 1
    assert finding(output, "database").startswith("✗")
    assert "reader:***@127.0.0.1:9/svc" in finding(output, "database")
    assert "s3cret-word" not in output


def test_a_database_that_answers_is_reported_with_its_version(
    doctor, empty_postgres_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SVC_DATABASE_URL", empty_postgres_url)
    code, output = doctor()
    assert code == 0
    assert ", PostgreSQL 1" in finding(output, "database")


def test_a_mail_server_that_does_not_answer_is_wrong(doctor, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_SMTP_HOST", "127.0.0.1")
    monkeypatch.setenv("SVC_SMTP_PORT", "9")
    code, output = doctor()
    assert code == 1
    assert finding(output, "e-mail").startswith("✗ e-mail         127.0.0.1:9 (starttls): Connection refused")


def test_a_setting_of_the_wrong_kind_is_named(doctor, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_RUNNING_LIMIT", "many")
    code, output = doctor()
    assert code == 1
    assert "SVC_RUNNING_LIMIT" in finding(output, "settings")


def test_a_command_is_only_run_at_an_address(capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", "--run-command"]) == 2
    assert "--run-command needs --url" in capsys.readouterr().err
    assert main(["doctor", "--url", "nonsense"]) == 2
    assert "must be an address such as https://" in capsys.readouterr().err
