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


def refusal() -> str:
    with pytest.raises(ConfigurationError) as refused:
        Settings.load(environ={})
    return str(refused.value)


def test_a_file_with_a_token_that_others_can_read_is_refused(config_file: Path) -> None:
    for_others = (0o640, 0o604)
    refusals = []
    for mode in for_others:
        write(config_file, f'[profiles.default]\nbase_url = "https://a.test"\ntoken = "{SECRET}"\n', mode)
        refusals.append(refusal())
    write(config_file, '[profiles.default]\nbase_url = "https://a.test"\ntoken_file = "token"\n')
    for mode in for_others:
        write(config_file.parent / "token", SECRET, mode)
        refusals.append(refusal())
    assert [text for text in refusals if "chmod 600" not in text or SECRET in text] == []


def test_a_broken_profile_file_is_reported_without_quoting_it(config_file: Path) -> None:
    address, profile = 'base_url = "https://a.test"', f"profile default of {config_file}"
    refusals = {
        f'[profiles.default]\ntoken = "{SECRET}': f"{config_file} is not a TOML file",
        "[profiles]\ndefault = 3": f"{profile} must be a table of texts: base_url, token, token_file",
        "profiles = 3": f"`profiles` in {config_file} must be tables such as [profiles.default]",
        '[profiles.default]\npassword = "x"': (
            f"{profile} has the unknown key 'password'; known: base_url, token, token_file"
        ),
        '[profiles.default]\ntoken = "x"\ntoken_file = "y"': f"{profile} has both token and token_file; keep one",
        f'[profiles.default]\n{address}\ntoken = "two words"': (
            f"the token of {profile} is empty or holds characters that no token has"
        ),
        f'[profiles.default]\n{address}\ntoken_file = "nowhere"': (
            f"the token file {config_file.parent / 'nowhere'} of {profile} cannot be read"
        ),
    }
    found = {}
    for text in refusals:
        write(config_file, text)
        found[text] = refusal()
    assert found == refusals


def test_the_token_is_in_no_repr() -> None:
    assert SECRET not in repr(Settings.load("https://a.test", SECRET, environ={}))


ADDRESSES = {
    "https://a.test/": "https://a.test",
    " http://127.0.0.1:8080 ": "http://127.0.0.1:8080",
    "https://a.test/platform/api/v1.2/": "https://a.test/platform",
    "https://a.test/api": "https://a.test",
    "https://a.test/apiary": "https://a.test/apiary",
}


def test_an_address_is_brought_to_one_form() -> None:
    assert {given: clean_base_url(given) for given in ADDRESSES} == ADDRESSES


def refusal_of(address: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        clean_base_url(address)
    return str(refused.value)


def test_an_invalid_base_url_is_refused() -> None:
    example = "base_url must be an address such as https://service.example.com"
    refusals = {
        **dict.fromkeys(("a.test", "ftp://a.test", "https://", "https://a.test:99999"), example),
        "https://a.test?x=1": "base_url must not have a query or fragment",
    }
    assert {address: refusal_of(address) for address in refusals} == refusals


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="must not hold a user name or password") as raised:
        clean_base_url(f"https://reader:{SECRET}@a.test")
    assert SECRET not in str(raised.value)


def test_loopback_addresses_are_known() -> None:
    assert all(map(is_loopback, ["http://127.0.0.1:1", "http://127.8.8.8", "http://[::1]:80", "http://localhost"]))
    assert not any(map(is_loopback, ["http://10.0.0.1", "https://a.test", "http://localhost.a.test"]))
