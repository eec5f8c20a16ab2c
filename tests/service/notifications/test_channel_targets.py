import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.notifications.channels import addresses_of, parse_target

EMAIL, WEBHOOK = ChannelType.EMAIL, ChannelType.WEBHOOK
SECRET = "T0-secret-B0"


def test_one_or_several_addresses_are_a_target() -> None:
    addresses = {
        "ada@example.org": ["ada@example.org"],
        " ada@example.org ,grace@example.org": ["ada@example.org", "grace@example.org"],
        "Ada@example.org,ada@EXAMPLE.org": ["Ada@example.org"],
        "admin@localhost": ["admin@localhost"],
        "o'hara+tag@sub.example.org": ["o'hara+tag@sub.example.org"],
        "josé@exämple.org": ["josé@exämple.org"],
    }
    targets = {text: parse_target(EMAIL, text) for text in addresses}

    assert {text: addresses_of(target.shown) for text, target in targets.items()} == addresses
    assert {target.url for target in targets.values()} == {None}


def refusal(kind: ChannelType, text: str) -> str:
    with pytest.raises(Invalid) as refused:
        parse_target(kind, text)
    assert refused.value.__cause__ is None
    return refused.value.message


def test_an_invalid_email_target_is_refused() -> None:
    first, second = (
        f"target: address {number} is not an e-mail address; write one, or several separated by commas"
        for number in (1, 2)
    )
    refused = {
        "": first,
        ",": first,
        "ada": first,
        "@example.org": first,
        "ada@": first,
        "ada@example.org,": second,
        "ada@example.org;grace@example.org": first,
        "ada@example.org grace@example.org": first,
        "Ada <ada@example.org>": first,
        "ada@example.org\r\nBcc: eve@example.org": first,
        "ada@b@example.org": first,
        "ada@example..org": first,
        "a" * 250 + "@example.org": first,
        "ada\ud800@example.org": first,
        ",".join(f"user{number}@example.org" for number in range(51)): "target: at most 50 addresses, 51 were given",
    }

    assert {text: refusal(EMAIL, text) for text in refused} == refused


def test_of_a_url_scheme_and_host_are_shown() -> None:
    shown = {
        f"https://hooks.example.org/services/{SECRET}": "https://hooks.example.org/…",
        f"https://hooks.example.org:8443/x?token={SECRET}": "https://hooks.example.org:8443/…",
        f"http://user:{SECRET}@127.0.0.1:8080": "http://127.0.0.1:8080/…",
        f"https://[2606:2800:220:1::1]/{SECRET}": "https://[2606:2800:220:1::1]/…",
    }
    targets = {url: parse_target(WEBHOOK, url) for url in shown}

    assert {url: target.shown for url, target in targets.items()} == shown
    assert [target.url for target in targets.values()] == list(shown)
    assert SECRET not in repr(list(targets.values()))


def test_an_invalid_web_address_is_refused_without_being_repeated() -> None:
    no_url = "target: must be a URL such as https://hooks.example.com/path"
    refused = {
        "": no_url,
        "hooks.example.org": no_url,
        f"ftp://hooks.example.org/{SECRET}": no_url,
        f"file:///etc/{SECRET}": no_url,
        f"//hooks.example.org/{SECRET}": no_url,
        f"https:///{SECRET}": no_url,
        f"https://user@/{SECRET}": no_url,
        f"https://hooks.example.org:99999/{SECRET}": no_url,
        f"https://hooks.example.org:0/{SECRET}": no_url,
        f"https://hooks.example.org:x/{SECRET}": no_url,
        f"https://hooks example.org/{SECRET}": no_url,
        f"https://hooks.example.org/{SECRET}\r\nX-AUTH-TOKEN: x": no_url,
        f"https://hooks.example.org/{SECRET}\ud800": no_url,
        f"https://[::1/{SECRET}": no_url,
        f"https://hooks.example.org/{SECRET}" + "x" * 2048: "target: a URL may have at most 2048 characters",
        "https://hooks.example.org/…": "target: give the whole URL; what holds … is how it is shown",
        f" https://hooks.example.org/{SECRET}": no_url,
    }

    assert {url: refusal(WEBHOOK, url) for url in refused} == refused


@given(st.sampled_from(ChannelType), st.text(st.characters(exclude_categories=())))
def test_any_text_is_a_target_or_refused(kind: ChannelType, text: str) -> None:
    try:
        target = parse_target(kind, text)
    except Invalid as refused:
        refused.message.encode()
    else:
        target.shown.encode()
