"""What of all that a page complains of fails a test: what the extension does wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route
from tests.browser.traffic import Traffic

_LAB = "http://lab.test/user/ann/"
_OURS = f"{_LAB}lab/extensions/svc-jupyter-labextension/static/747.js"
_THEIRS = f"{_LAB}static/lab/main.js"
_API = f"{_LAB}svc-jupyter/api/commands"
_SCRIPTS = {
    # Lab calls handlers of others, and catches what they throw.
    _THEIRS: """
        window.deep = (depth, call) => depth ? window.deep(depth - 1, call) : call();
        window.caught = call => { try { call(); } catch (error) { console.error(error); } };
        window.theirs = () => { throw new Error('of Lab'); };
        window.theirsLater = () => { setTimeout(window.theirs); };
        window.theirRejection = () => { Promise.reject(new Error('rejected by Lab')); };
        window.theirWords = () => console.error('Comm not found for comm id 1');
    """,
    _OURS: """
        window.ours = () => { throw new Error('of the extension'); };
        window.oursLater = () => { setTimeout(window.ours); };
        window.oursDeep = () => { setTimeout(() => window.deep(100, window.ours)); };
        window.ourRejection = () => { Promise.reject(new Error('rejected by the extension')); };
        window.ourWords = () => console.error('words of the extension');
    """,
}


def _serve(route: Route) -> None:
    url = route.request.url
    if url in _SCRIPTS:
        route.fulfill(content_type="text/javascript", body=_SCRIPTS[url])
    elif url.startswith(_API):
        status = url.partition("?")[2]
        if status == "never":
            return  # it is under way until the page is left
        if status == "broken":
            route.abort()
        else:
            route.fulfill(status=int(status or 200), body="{}")
    elif url == _LAB:
        scripts = "".join(f"<script src='{script}'></script>" for script in _SCRIPTS)
        route.fulfill(content_type="text/html", body=f"<body>{scripts}</body>")
    else:
        route.fulfill(status=404 if "api/" in url else 200, content_type="text/html", body="<body></body>")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose scripts come from Lab's addresses and from those of the extension."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**", _serve)
    yield page
    context.close()


@pytest.fixture
def traffic(page: Page) -> Traffic:
    traffic = Traffic(page)
    traffic.expect_errors("Error: over")
    page.goto(_LAB)
    return traffic


def _errors_after(page: Page, traffic: Traffic, script: str) -> list[str]:
    """Return the errors once a script has run, and an exception and a rejection that followed it were reported."""
    page.evaluate(f"async () => {{ {script} }}")
    for last in ("throw new Error('over')", "Promise.reject(new Error('over'))"):
        with page.expect_event("pageerror", lambda error: error.message == "over"):
            page.evaluate(f"() => {{ setTimeout(() => {{ {last}; }}); }}")
    return traffic.unexpected_errors


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("oursLater()", "of the extension"),
        ("oursDeep()", "of the extension"),
        ("caught(ours)", "of the extension"),
        ("ourRejection()", "rejected by the extension"),
        ("ourWords()", "words of the extension"),
        ("console.error('Plugin svc-jupyter-labextension:clusters failed to activate.')", "failed to activate"),
        (f"await fetch('{_API}?500')", "500 Internal Server Error: GET"),
        (f"await fetch('{_API}?422')", "422 Unprocessable Entity: GET"),
        (f"await fetch('{_API}?broken').catch(() => undefined)", "net::ERR_FAILED: GET"),
    ],
)
def test_an_error_of_the_extension_fails_a_test_that_does_not_expect_it(
    page: Page, traffic: Traffic, script: str, told: str
) -> None:
    [error] = _errors_after(page, traffic, script)
    assert told in error
    traffic.expect_errors(told)
    assert traffic.unexpected_errors == []


@pytest.mark.parametrize(
    "script",
    [
        "theirsLater()",
        "caught(theirs)",
        "theirRejection()",
        "theirWords()",
        "Promise.reject(Object.assign(new Error('Canceled future for create_subshell_request'), { stack: '' }))",
        f"await fetch('{_LAB}api/contents/gone.ipynb')",
        f"await fetch('{_API}?200')",
    ],
)
def test_complaints_of_other_code_are_no_errors(page: Page, traffic: Traffic, script: str) -> None:
    assert _errors_after(page, traffic, script) == []


def test_a_request_that_ends_with_its_page_is_none(page: Page, traffic: Traffic) -> None:
    with page.expect_event("requestfailed") as failed:
        page.evaluate(f"void fetch('{_API}?never').catch(() => undefined)")
        page.goto(f"{_LAB}elsewhere")
    assert failed.value.failure == "net::ERR_ABORTED"
    assert traffic.unexpected_errors == []


def test_an_answer_to_the_test_before_is_none(page: Page, traffic: Traffic) -> None:
    with page.expect_request(lambda request: "never" in request.url):
        page.evaluate(f"void fetch('{_API}?never').catch(() => undefined)")
    traffic.stop()
    later = Traffic(page)
    with page.expect_event("requestfailed"):
        page.goto(f"{_LAB}elsewhere")
    assert later.unexpected_errors == []
