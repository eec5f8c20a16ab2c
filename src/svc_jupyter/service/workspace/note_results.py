"""Converts results of a paragraph to outputs of a cell and back. Functions of values.

A paragraph's results are `{"code": "SUCCESS", "msg": [{"type": "TEXT"|"HTML"|"TABLE"…, "data": text}, …]}`; a TABLE is
tab-separated with a row of headers.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

KEY = "svc_note"
"""The metadata key of notebooks, cells and outputs for what only a note has."""
_SUCCESS, _ERROR = "SUCCESS", "ERROR"
_MESSAGE = {"type", "data"}
_RESULTS = {"code", "msg"}


def outputs_of(results: Any) -> list[dict[str, Any]]:
    """Return the outputs for results; none for results of another form, which outputs cannot express."""
    if not _is_plain(results):
        return []
    outputs = []
    for number, message in enumerate(results["msg"]):
        about = {"type": message["type"]}
        if number == 0 and results["code"] != _SUCCESS:
            about["code"] = results["code"]
        mime = "text/html" if message["type"] == "HTML" else "text/plain"
        outputs.append(
            {"output_type": "display_data", "data": {mime: message["data"]}, "metadata": {KEY: about}},
        )
    return outputs


def results_of(outputs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the results for outputs, or None when results cannot express any of them."""
    code = _SUCCESS
    messages: list[dict[str, str]] = []
    for output in outputs:
        if output["output_type"] == "error":
            code = _ERROR
        about = _about(output)
        code = about.get("code", code)
        message = _message(output, about.get("type"))
        if message is not None:
            messages.append(message)
    return {"code": code, "msg": messages} if messages else None


def _message(output: Mapping[str, Any], known_type: str | None) -> dict[str, str] | None:
    kind = output["output_type"]
    if kind == "stream":
        return {"type": "TEXT", "data": output["text"]}
    if kind == "error":
        lines = output["traceback"] or [f"{output['ename']}: {output['evalue']}"]
        return {"type": "TEXT", "data": "\n".join(lines)}
    data = output["data"]
    if isinstance(data.get("text/html"), str):
        return {"type": known_type or "HTML", "data": data["text/html"]}
    image = next((mime for mime in data if mime in ("image/png", "image/jpeg", "image/gif")), None)
    if image is not None and isinstance(data[image], str):
        source = html.escape("".join(data[image].split()))
        return {"type": "HTML", "data": f'<img src="data:{image};base64,{source}">'}
    if isinstance(data.get("text/plain"), str):
        return {"type": known_type or "TEXT", "data": data["text/plain"]}
    return None


def _about(output: Mapping[str, Any]) -> dict[str, str]:
    """Return this module's own metadata of an output."""
    metadata = output.get("metadata")
    about = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(about, dict):
        return {}
    return {key: value for key, value in about.items() if key in ("type", "code") and isinstance(value, str)}


def _is_plain(results: Any) -> bool:
    return (
        isinstance(results, dict)
        and results.keys() == _RESULTS
        and isinstance(results["code"], str)
        and isinstance(results["msg"], list)
        and all(
            isinstance(message, dict)
            and message.keys() == _MESSAGE
            and isinstance(message["type"], str)
            and isinstance(message["data"], str)
            for message in results["msg"]
        )
    )
