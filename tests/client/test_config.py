from pathlib import Path

import pytest

from svc_jupyter.client import ConfigurationError, Settings
from svc_jupyter.client.address.config import clean_base_url, is_loopback

SECRET = "s3cret-token-value"


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".config" / "svc-jupyter" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


def write(file: Path, text: str, mode: int = 0o600) -> None:
    file.write_text(text)
    file.chmod(mode)


def test_without_any_setting_it_is_the_embedded_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings.load(environ={"SVC_DATA_DIR": str(tmp_path / "data")})
    assert settings.embedded
    assert settings.source == "embedded service"
    assert settings.data_dir == tmp_path / "data"


def test_the_data_folder_is_the_platforms_without_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    data_dir = Settings.load(environ={}).data_dir
    assert data_dir.name == "svc-jupyter"
    assert data_dir.is_relative_to(tmp_path)


def test_arguments_beat_the_environment_which_beats_the_profile(config_file: Path) -> None:
    write(config_file, f'[profiles.default]\nbase_url = "https://profile.test"\ntoken = "{SECRET}"\n')
    environ = {"SVC_BASE_URL": "https://environment.test/", "SVC_API_TOKEN": "from-environment"}

    given = Settings.load("https://argument.test", "from-argument", environ=environ)
    found = Settings.load(environ=environ)
    last = Settings.load(environ={})

    assert (given.base_url, given.token) == ("https://argument.test", "from-argument")
    assert (found.base_url, found.token, found.source) == (
        "https://environment.test",
        "from-environment",
        "the environment",
    )
    assert (last.base_url, last.token) == ("https://profile.test", SECRET)


def test_the_environment_picks_a_profile_and_an_argument_beats_it(config_file: Path) -> None:
    write(
        config_file,
        f'[profiles.a]\nbase_url = "https://a.test"\ntoken = "{SECRET}"\n'
        f'[profiles.b]\nbase_url = "https://b.test"\ntoken = "{SECRET}"\n',
    )
    assert Settings.load(environ={"SVC_PROFILE": "a"}).base_url == "https://a.test"
    both = {"SVC_PROFILE": "a", "SVC_BASE_URL": "https://environment.test", "SVC_API_TOKEN": "x"}
    assert Settings.load(profile="b", environ=both).base_url == "https://b.test"


def test_a_profile_that_is_not_there_is_named_with_those_that_are(config_file: Path) -> None:
    write(config_file, '[profiles.a]\nbase_url = "https://a.test"\n')
    with pytest.raises(ConfigurationError, match=r"no \[profiles.b\].*profiles there: a"):
        Settings.load(environ={"SVC_PROFILE": "b"})


def test_a_token_is_never_paired_with_another_places_address(config_file: Path) -> None:
    environ = {"SVC_BASE_URL": "https://mine.test", "SVC_API_TOKEN": SECRET}
    with pytest.raises(ConfigurationError, match=r"no token for https://other.test") as raised:
        Settings.load("https://other.test", environ=environ)
    assert SECRET not in str(raised.value)
    assert Settings.load("https://mine.test/", environ=environ).token == SECRET
    assert Settings.load("https://other.test", environ={"SVC_API_TOKEN": SECRET}).token == SECRET


def test_a_token_file_lies_beside_the_profile_file(config_file: Path) -> None:
    write(config_file, '[profiles.default]\nbase_url = "https://a.test"\ntoken_file = "token"\n', mode=0o644)
    write(config_file.parent / "token", f"{SECRET}\n")
    assert Settings.load(environ={}).token == SECRET


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_with_a_token_that_others_can_read_is_refused(config_file: Path, mode: int) -> None:
    write(config_file, f'[profiles.default]\nbase_url = "https://a.test"\ntoken = "{SECRET}"\n', mode)
    with pytest.raises(ConfigurationError, match="chmod 600") as raised:
        Settings.load(environ={})
    assert SECRET not in str(raised.value)

    write(config_file, '[profiles.default]\nbase_url = "https://a.test"\ntoken_file = "token"\n')
    write(config_file.parent / "token", SECRET, mode)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        Settings.load(environ={})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'[profiles.default]\ntoken = "{SECRET}', "is not a TOML file"),
        ("[profiles]\ndefault = 3", "must be a table"),
        ("profiles = 3", "must be tables"),
        ('[profiles.default]\npassword = "x"', "unknown key 'password'"),
        ('[profiles.default]\ntoken = "x"\ntoken_file = "y"', "keep one"),
        ('[profiles.default]\nbase_url = "https://a.test"\ntoken = "two words"', "holds characters that no token has"),
        ('[profiles.default]\nbase_url = "https://a.test"\ntoken_file = "nowhere"', "cannot be read"),
    ],
)
def test_a_broken_profile_file_is_reported_without_quoting_it(config_file: Path, text: str, message: str) -> None:
    write(config_file, text)
    with pytest.raises(ConfigurationError, match=message) as raised:
        Settings.load(environ={})
    assert SECRET not in str(raised.value)


def test_the_token_is_in_no_repr() -> None:
    assert SECRET not in repr(Settings.load("https://a.test", SECRET, environ={}))


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("https://a.test/", "https://a.test"),
        (" http://127.0.0.1:8080 ", "http://127.0.0.1:8080"),
        ("https://a.test/platform/api/v1.2/", "https://a.test/platform"),
        ("https://a.test/api", "https://a.test"),
        ("https://a.test/apiary", "https://a.test/apiary"),
    ],
)
def test_an_address_is_brought_to_one_form(given: str, clean: str) -> None:
    assert clean_base_url(given) == clean


@pytest.mark.parametrize("given", ["a.test", "ftp://a.test", "https://", "https://a.test:99999", "https://a.test?x=1"])
def test_an_invalid_base_url_is_refused(given: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url must"):
        clean_base_url(given)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="must not hold a user name or password") as raised:
        clean_base_url(f"https://reader:{SECRET}@a.test")
    assert SECRET not in str(raised.value)


def test_loopback_addresses_are_known() -> None:
    assert all(map(is_loopback, ["http://127.0.0.1:1", "http://127.8.8.8", "http://[::1]:80", "http://localhost"]))
    assert not any(map(is_loopback, ["http://10.0.0.1", "https://a.test", "http://localhost.a.test"]))
