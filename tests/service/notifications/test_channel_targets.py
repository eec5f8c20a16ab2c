import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.notifications.channels import addresses_of, parse_target

EMAIL, WEBHOOK = ChannelType.EMAIL, ChannelType.WEBHOOK
SECRET = "T0-secret-B0"


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("ada@example.org", ["ada@example.org"]),
        (" ada@example.org ,grace@example.org", ["ada@example.org", "grace@example.org"]),
        ("Ada@example.org,ada@EXAMPLE.org", ["Ada@example.org"]),
        ("admin@localhost", ["admin@localhost"]),
        ("o'hara+tag@sub.example.org", ["o'hara+tag@sub.example.org"]),
        ("josé@exämple.org", ["josé@exämple.org"]),
    ],
)
def test_one_or_several_addresses_are_a_target(text: str, addresses: list[str]) -> None:
    target = parse_target(EMAIL, text)

    assert addresses_of(target.shown) == addresses
    assert target.url is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "ada",
        "@example.org",
        "ada@",
        "ada@example.org,",
        "ada@example.org;grace@example.org",
        "ada@example.org grace@example.org",
        "Ada <ada@example.org>",
        "ada@example.org\r\nBcc: eve@example.org",
        "ada@b@example.org",
        "ada@example..org",
        "a" * 250 + "@example.org",
        "ada\ud800@example.org",
        ",".join(f"user{number}@example.org" for number in range(51)),
    ],
)
def test_an_invalid_email_target_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"^target: "):
        parse_target(EMAIL, text)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://hooks.example.org/services/{SECRET}", "https://hooks.example.org/…"),
        (f"https://hooks.example.org:8443/x?token={SECRET}", "https://hooks.example.org:8443/…"),
        (f"http://user:{SECRET}@127.0.0.1:8080", "http://127.0.0.1:8080/…"),
        (f"https://[2606:2800:220:1::1]/{SECRET}", "https://[2606:2800:220:1::1]/…"),
    ],
)
def test_of_a_url_scheme_and_host_are_shown(url: str, shown: str) -> None:
    target = parse_target(WEBHOOK, url)

    assert (target.shown, target.url) == (shown, url)
    assert SECRET not in repr(target)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example.org",
        f"ftp://hooks.example.org/{SECRET}",
        f"file:///etc/{SECRET}",
        f"//hooks.example.org/{SECRET}",
        f"https:///{SECRET}",
        f"https://user@/{SECRET}",
        f"https://hooks.example.org:99999/{SECRET}",
        f"https://hooks.example.org:0/{SECRET}",
        f"https://hooks.example.org:x/{SECRET}",
        f"https://hooks example.org/{SECRET}",
        f"https://hooks.example.org/{SECRET}\r\nX-AUTH-TOKEN: x",
        f"https://hooks.example.org/{SECRET}\ud800",
        f"https://[::1/{SECRET}",
        f"https://hooks.example.org/{SECRET}" + "x" * 2048,
        "https://hooks.example.org/…",
        f" https://hooks.example.org/{SECRET}",
    ],
)
def test_an_invalid_web_address_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(Invalid, match=r"^target: ") as refused:
        parse_target(WEBHOOK, url)

    assert SECRET not in refused.value.message
    assert refused.value.__cause__ is None


@given(st.sampled_from(ChannelType), st.text(st.characters(exclude_categories=())))
def test_any_text_is_a_target_or_refused(kind: ChannelType, text: str) -> None:
    try:
        target = parse_target(kind, text)
    except Invalid as refused:
        refused.message.encode()
    else:
        target.shown.encode()
