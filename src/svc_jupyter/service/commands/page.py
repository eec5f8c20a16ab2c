"""A command as a page for a browser: its state, what it runs, its log and its result. Clients of others link to it.

The page has no script and asks nobody else for anything. A browser asks its reader for an API token, as a password.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Request
from fastapi.responses import HTMLResponse

from svc_jupyter.api.fields import MAX_ID
from svc_jupyter.api.paths import TOKEN_HEADER
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.api.status_words import command_words, type_word
from svc_jupyter.durations import elapsed
from svc_jupyter.service.access.dependencies import authenticated_caller
from svc_jupyter.service.access.permissions import require_to_read_some
from svc_jupyter.service.commands import logs, results
from svc_jupyter.service.commands.kind import ResultForm, StoredResult
from svc_jupyter.service.commands.route_parameters import CommandsDep, require_readable
from svc_jupyter.service.ground.errors import Invalid, NotFound, ServiceError, Unauthorized

router = APIRouter()
_SOURCES: Final = ("query", "inline", "latin_statements", "program", "sql", "cmdline")
"""Fields of which one has what a command runs."""
_ID: Final = re.compile(r"[0-9]{1,19}")
_LOG_BYTES: Final = 200_000
_ROWS: Final = 200
_CELL: Final = 1_000
_AGAIN_SECONDS: Final = 5
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STYLE: Final = """
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { max-width: 1100px; margin: 24px auto; padding: 0 16px; }
h1 { font-size: 20px; } h2 { font-size: 15px; margin: 24px 0 8px; }
pre, .rows { font: 12px/18px ui-monospace, monospace; border: 1px solid #8886; padding: 8px 12px; margin: 0;
  overflow: auto; max-height: 400px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.log { display: flex; flex-direction: column-reverse; }  /* opens at its end */
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line; }
.rows { padding: 0; } table { border-collapse: collapse; }
th, td { padding: 2px 12px; text-align: left; white-space: nowrap; }
th { position: sticky; top: 0; background: Canvas; border-bottom: 1px solid #8886; }
.error { color: light-dark(#c62828, #ef9a9a); } .done { color: light-dark(#2e7d32, #a5d6a7); }
"""


@router.get("/v2/analyze", include_in_schema=False)
async def command_page(
    request: Request,
    commands: CommandsDep,
    command_id: str = "",
    x_auth_token: Annotated[str | None, Header(alias=TOKEN_HEADER)] = None,
    authorization: Annotated[str | None, Header()] = None,
) -> HTMLResponse:
    """Show a command; its reader needs the right to read it, as everywhere."""
    title = "Command"
    try:
        caller = await authenticated_caller(request, x_auth_token or _password(authorization))
        require_to_read_some(caller)
        number = _number(command_id)
        title = f"Command {number}"
        await require_readable(number, commands, caller)
        row = await commands.row(number, caller)
        record = await commands.get(number, caller)
        root = commands.root(row)
        parts = await asyncio.to_thread(_parts, record, StoredResult.of(row), root)
    except Unauthorized as error:
        challenge = {"WWW-Authenticate": 'Basic realm="svc-jupyter: any name, and an API token as the password"'}
        return _page(error.status, title, f"<p>{escape(error.message)}</p>", challenge)
    except ServiceError as error:
        return _page(error.status, title, f'<p class="error">{escape(error.message)}</p>')
    again = {} if CommandStatus(record["status"]).is_final else {"Refresh": str(_AGAIN_SECONDS)}
    return _page(200, title, parts, again)


def _number(command_id: str) -> int:
    """Return the id of an address; it is read after the caller's right, as in all calls."""
    if not _ID.fullmatch(command_id) or not 1 <= int(command_id) <= MAX_ID:
        raise Invalid("command_id must be the number of a command, as in /v2/analyze?command_id=7")
    return int(command_id)


def _password(authorization: str | None) -> str | None:
    """Return the password of HTTP's basic authentication, None without one."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")[2] or None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _page(status: int, title: str, body: str, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style><h1>{escape(title)}</h1>{body}'
    )
    return HTMLResponse(text, status, {**_HEADERS, **(headers or {})})


def _parts(record: Mapping[str, Any], result: StoredResult | None, root: Path) -> str:
    status = CommandStatus(record["status"])
    command = record["command"] if isinstance(record["command"], dict) else {"command": record["command"]}
    source = next((name for name in _SOURCES if isinstance(command.get(name), str) and command[name].strip()), None)
    facts = [
        ("Status", f'<span class="{escape(status)}">{escape(command_words(status))}</span>'),
        ("Message", escape(record["message"] or "")),
        ("Type", escape(type_word(record["command_type"]))),
        ("Name", escape(record["name"] or "")),
        ("Cluster", escape(record["label"] or "")),
        ("Started", escape(_moment(record["start_time"]))),
        ("Took", escape(_took(record["started_at"], record["ended_at"]))),
        *((escape(name), escape(_text(value))) for name, value in command.items() if name != source and value),
    ]
    shown = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts if value)
    sections = [f"<dl>{shown}</dl>"]
    if source is not None:
        sections.append(f"<h2>Source</h2><pre>{escape(command[source])}</pre>")
    log = root / "log"
    start = max(0, logs.log_length(log) - _LOG_BYTES)
    text, _ = logs.read_text_part(log, start, _LOG_BYTES, ended=True)
    cut = f"the last {_LOG_BYTES:,} bytes of the log\n\n" if start else ""
    sections.append(f'<h2>Log</h2><pre class="log"><span>{escape(cut + text) or "empty"}</span></pre>')
    if result is not None:
        sections.append(f"<h2>Result</h2>{_rows(result, root)}")
    return "".join(sections)


def _rows(result: StoredResult, root: Path) -> str:
    """Return the first rows of a result as a table, or its first lines."""
    try:
        results.check_there(root, result)
        parts = results.as_tsv(root, result, headers=True)
        first = next(parts, "")
        text = first if result.form is ResultForm.LINES else first + next(parts, "")
    except (NotFound, results.TooLarge) as error:
        return f"<p>{escape(str(error)) or 'A row is too large to be shown.'}</p>"
    lines = list(islice(iter(text.removesuffix("\r\n").split("\r\n")), _ROWS + 1))
    if result.form is ResultForm.LINES or result.text_file is not None:
        return f"<pre>{escape(chr(10).join(line[:_CELL] for line in lines))}</pre>"
    names, *rows = [[escape(cell[:_CELL]) for cell in line.split("\t")] for line in lines]
    table = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    count = f"{result.rows:,} row{'' if result.rows == 1 else 's'}" if result.rows is not None else "rows"
    shown = f", of which {len(rows):,} are shown" if result.rows is not None and len(rows) < result.rows else ""
    head = "".join(f"<th>{name}</th>" for name in names)
    return f'<p>{count}{shown}</p><div class="rows"><table><tr>{head}</tr>{table}</table></div>'


def _moment(seconds: Any) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _took(start: str | None, end: str | None) -> str:
    if start is None or end is None:
        return ""
    return elapsed((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
