"""Check a service from outside: what its users meet at its address, proxy included."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import httpx

from svc_jupyter.api.paths import DEFAULT_VERSION, TOKEN_HEADER
from svc_jupyter.cli.checks.finding import Finding, Mark, fine, note, wrong
from svc_jupyter.client import Client, Retries, SvcError
from svc_jupyter.client.address.config import NoTokenError, Settings, clean_base_url, is_loopback
from svc_jupyter.client.transport.wire import certificates

_SECONDS = 10
_SOON_DAYS = 14
_DAY = 86_400
_CLOCK_SECONDS = 30
_LARGE_BYTES = 2 * 2**20
"""Above what proxies let through by default; far below the service's own limit."""
_RUNNING_SECONDS = 3.0
_OF_NOBODY = "set SSL_CERT_FILE to the file with the authority that issued it"
_FIXES = {
    10: "renew it",
    18: _OF_NOBODY,
    19: _OF_NOBODY,
    20: _OF_NOBODY,
    21: _OF_NOBODY,
    62: "the certificate must name the host of the address",
    64: "the certificate must name the address",
}
"""What to do by OpenSSL's X509_V_ERR codes."""
_ALL_PATHS = "let what stands in front of the service pass all paths of this address"


def check_from_outside(url: str, *, runs_a_command: bool) -> Iterator[Finding]:
    """Yield what a client on this machine finds at the address of a service.

    The token is that of the environment or the profile. Only with `runs_a_command` is anything changed: a shell
    command of three seconds runs. Raises `ConfigurationError` for what is no address.
    """
    base_url = clean_base_url(url)
    token = _token(base_url)
    with httpx.Client(
        base_url=base_url, verify=certificates(), timeout=_SECONDS, trust_env=not is_loopback(base_url)
    ) as http:
        try:
            yield from _findings(http, base_url, token, runs_a_command=runs_a_command)
        except httpx.HTTPError as error:
            yield _unreachable(base_url, error)


def _findings(http: httpx.Client, base_url: str, token: str | None, *, runs_a_command: bool) -> Iterator[Finding]:
    with http.stream("GET", "/healthz") as alive:
        yield from _transport(base_url, alive)  # while the connection is there
        alive.read()
    if (alive.status_code, alive.text.strip()) != (200, "alive"):
        what = f"{base_url}/healthz answers {alive.status_code}, but not as this service does"
        yield wrong("service", what, f"check the address; {_ALL_PATHS}")
        return
    yield from _clock(alive)
    yield from _readiness(http, token)
    yield _figures(http)
    if token is None:
        yield note("token", "none for this address: calls are not checked", "set SVC_BASE_URL and SVC_API_TOKEN")
        return
    account = _account(base_url, token)
    yield account
    if account.mark is Mark.FINE:
        http.headers[TOKEN_HEADER] = token
        yield _large_body(http)
        if runs_a_command:
            yield from _events(http)


def _token(base_url: str) -> str | None:
    try:
        return Settings.load(base_url).token
    except NoTokenError:
        return None


def _unreachable(base_url: str, error: httpx.HTTPError) -> Finding:
    reason: BaseException = error
    while inner := reason.__cause__ or reason.__context__:
        reason = inner
    if isinstance(reason, ssl.SSLCertVerificationError):
        fix = _FIXES.get(reason.verify_code, "look at the names and dates in the certificate")
        return wrong("certificate", f"{base_url}: {reason.verify_message}", fix)
    if isinstance(reason, ssl.SSLError):
        return wrong("certificate", f"{base_url} does not speak TLS there: {reason.reason}", "check port and scheme")
    text = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
    return wrong("address", f"{base_url}: {text}", "check the name and port, firewalls, and whether the proxy runs")


def _transport(base_url: str, answer: httpx.Response) -> Iterator[Finding]:
    if base_url.startswith("http:"):
        if not is_loopback(base_url):
            yield note("certificate", "http: tokens and results can be read on the way", "serve it by https")
        return
    certificate = answer.extensions["network_stream"].get_extra_info("ssl_object").getpeercert()
    days = (ssl.cert_time_to_seconds(certificate["notAfter"]) - time.time()) / _DAY
    if days < _SOON_DAYS:
        yield note("certificate", f"it ends in {days:.0f} days", "renew it, and let the proxy load the new one")
    else:
        yield fine("certificate", f"valid for {days:.0f} days")


def _clock(answer: httpx.Response) -> Iterator[Finding]:
    if not (shown := answer.headers.get("Date")):
        return
    ahead = parsedate_to_datetime(shown).timestamp() - time.time()
    if abs(ahead) > _CLOCK_SECONDS:
        which = "ahead of" if ahead > 0 else "behind"
        what = f"the service's is {abs(ahead):.0f} s {which} this machine's"
        yield note("clock", what, "set both by NTP: nominal times are those of the service")


def _readiness(http: httpx.Client, token: str | None) -> Iterator[Finding]:
    answer = http.get("/readyz", headers={TOKEN_HEADER: token} if token else {})
    try:
        checks = dict(answer.json()["checks"])
    except (ValueError, KeyError, TypeError):
        yield wrong("readiness", f"/readyz answers {answer.status_code} without its checks", _ALL_PATHS)
        return
    if not (failed := {name: text for name, text in checks.items() if not str(text).startswith("ok")}):
        yield fine("readiness", ", ".join(checks))
    for name, text in failed.items():
        why = str(text).removeprefix("failed").removeprefix(": ")
        what = f"{name}: {why}" if why else f"{name} failed; an administrator's token shows why"
        yield wrong("readiness", what, "docs/operations.md, Health and figures")


def _figures(http: httpx.Client) -> Finding:
    if http.get("/metrics").is_success:
        return wrong("figures", "everybody can read /metrics at this address", "deny /metrics in the proxy")
    return fine("figures", "not open to everybody")


def _account(base_url: str, token: str) -> Finding:
    try:
        with Client(base_url, token, retries=Retries(attempts=1), timeout=_SECONDS) as client:
            account = client.account.get()
    except SvcError as error:
        return wrong("token", error.message, "check SVC_API_TOKEN")
    return fine("token", f"of {account.email} ({', '.join(account.groups) or 'no group'})")


def _large_body(http: httpx.Client) -> Finding:
    """Send what the service refuses, so that nothing comes of it."""
    body = json.dumps({"command_type": "no such type", "padding": "x" * _LARGE_BYTES}).encode()
    headers = {"Content-Type": "application/json"}
    try:
        answer = http.post(f"/api/{DEFAULT_VERSION}/commands", content=body, headers=headers, timeout=60)
        if answer.status_code == 422:
            return fine("large bodies", f"{_LARGE_BYTES // 2**20} MiB reach the service")
        came = f"answered with {answer.status_code}"
    except httpx.TransportError:
        came = "cut off"
    what = f"one of {_LARGE_BYTES // 2**20} MiB is {came} before it reaches the service"
    return wrong("large bodies", what, "raise the proxy's limit above SVC_MAX_BODY_BYTES (nginx: client_max_body_size)")


def _events(http: httpx.Client) -> Iterator[Finding]:
    script = f"echo begun >&2; sleep {_RUNNING_SECONDS}"
    body = {"command_type": "ShellCommand", "inline": script, "name": "svc-jupyter doctor"}
    answer = http.post(f"/api/{DEFAULT_VERSION}/commands", json=body)
    if not answer.is_success:
        yield wrong("command", f"it could not be submitted: {answer.status_code}", "see the service's log")
        return
    path = f"/api/{DEFAULT_VERSION}/commands/{answer.json()['id']}"
    with http.stream("GET", f"{path}/events", timeout=120) as stream:
        came = [time.monotonic() for _ in stream.iter_lines()] or [0.0]
    status = http.get(path).json()["status"]
    if status != "done":
        yield wrong("command", f"a shell command of three seconds ended as {status}", "see its log, and the service's")
    else:
        yield fine("command", "a shell command of three seconds was done")
    if came[-1] - came[0] < _RUNNING_SECONDS / 2:
        fix = "let the proxy pass text/event-stream unbuffered (nginx: proxy_buffering off)"
        yield wrong("events", "they come together at the command's end, not while it runs", fix)
    else:
        yield fine("events", "they come while the command runs")
