"""Documents as notebooks servers and Jupyter write them, and strategies that make more of them."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st

ZPLN: dict[str, Any] = {
    "paragraphs": [
        {
            "title": "About",
            "text": "%md\n## Delays\nby *carrier*",
            "user": "ann",
            "dateUpdated": "2026-03-01 10:11:12.345",
            "progress": 0,
            "config": {"editorMode": "ace/mode/markdown", "colWidth": 12.0, "enabled": True, "results": {}},
            "settings": {"params": {}, "forms": {}},
            "results": {"code": "SUCCESS", "msg": [{"type": "HTML", "data": "<h2>Delays</h2>\n"}]},
            "apps": [],
            "runtimeInfos": {},
            "progressUpdateIntervalMs": 500,
            "jobName": "paragraph_1587655451_1",
            "id": "paragraph_1587655451_1",
            "dateCreated": "2026-03-01 10:00:00.000",
            "dateStarted": "2026-03-01 10:11:12.345",
            "dateFinished": "2026-03-01 10:11:12.999",
            "status": "FINISHED",
        },
        {
            "text": "%sql\nselect carrier, avg(delay) from flights where month = ${month=1,1(January)|2}",
            "config": {"results": {"0": {"graph": {"mode": "multiBarChart", "height": 300.0}}}},
            "settings": {
                "params": {"month": "2"},
                "forms": {
                    "month": {
                        "type": "Select",
                        "name": "month",
                        "defaultValue": "1",
                        "options": [{"value": "1", "displayName": "January"}, {"value": "2"}],
                        "hidden": False,
                    }
                },
            },
            "results": {"code": "SUCCESS", "msg": [{"type": "TABLE", "data": "carrier\tdelay\nAA\t8.5\nUA\t12.1\n"}]},
            "id": "20260301-101112_42",
            "status": "FINISHED",
        },
        {
            "text": "%pyspark\nraise ValueError('ü')",
            "results": {
                "code": "ERROR",
                "msg": [{"type": "TEXT", "data": "before\n"}, {"type": "TEXT", "data": "ValueError: ü"}],
            },
            "id": "paragraph with a space",
            "status": "ERROR",
        },
        {"text": "%sh date", "results": {"code": "SUCCESS", "msg": []}, "id": "p4", "status": "READY"},
        {"text": "%md one line", "id": "p5", "results": None},
        {"text": None, "id": "p6"},
        {"id": "p7", "config": {}, "status": "READY"},
        {"text": "", "id": "p8", "results": {"code": "SUCCESS", "type": "TEXT", "msg": "of an older version"}},
        {
            "text": "%angular <b>${x}</b>",
            "id": "p9",
            "results": {
                "code": "KEEP_PREVIOUS_RESULT",
                "msg": [{"type": "ANGULAR", "data": "<b>1</b>"}, {"type": "NETWORK", "data": "{}"}],
            },
        },
    ],
    "name": "Delays",
    "id": "2FBQ1JRZ3",
    "defaultInterpreterGroup": "spark",
    "version": "0.11.1",
    "permissions": {},
    "noteParams": {"who": "ann"},
    "noteForms": {"who": {"type": "TextBox", "name": "who", "defaultValue": ""}},
    "angularObjects": {},
    "config": {"isZeppelinNotebookCronEnable": False, "looknfeel": "default"},
    "info": {},
}

IPYNB: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.12.1"},
    },
    "cells": [
        {
            "cell_type": "markdown",
            "id": "intro",
            "metadata": {"tags": ["a"]},
            "source": "# Title\n![dot](attachment:dot.png)",
            "attachments": {"dot.png": {"image/png": "iVBORw0KGgo="}},
        },
        {
            "cell_type": "code",
            "id": "first",
            "metadata": {"collapsed": False, "jupyter": {"outputs_hidden": True}},
            "execution_count": 3,
            "source": "print(1)\ndisplay(frame)\n1 / 0",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": "1\n"},
                {
                    "output_type": "display_data",
                    "data": {"text/html": "<table></table>", "text/plain": "   a\n0  1"},
                    "metadata": {"text/html": {"isolated": True}},
                },
                {
                    "output_type": "execute_result",
                    "execution_count": 3,
                    "data": {"image/png": "iVBORw0KGgo=\n", "text/plain": "<Figure>"},
                    "metadata": {},
                },
                {"output_type": "display_data", "data": {"application/json": {"a": [1, None]}}, "metadata": {}},
                {
                    "output_type": "error",
                    "ename": "ZeroDivisionError",
                    "evalue": "division by zero",
                    "traceback": ["Traceback", "ZeroDivisionError: division by zero"],
                },
            ],
        },
        {"cell_type": "raw", "id": "raw", "metadata": {"format": "text/latex"}, "source": "\\alpha"},
        {"cell_type": "code", "id": "md", "metadata": {}, "execution_count": None, "source": "%md x", "outputs": []},
        {"cell_type": "markdown", "id": "empty", "metadata": {}, "source": ""},
        {"cell_type": "code", "id": "blank", "metadata": {}, "execution_count": None, "source": "", "outputs": []},
    ],
}

_TEXT = st.text(max_size=20)
_SOURCE = st.one_of(
    _TEXT,
    st.builds(
        lambda mark, text: mark + text,
        st.sampled_from(
            ["%md\n", "%md", "%md ", " %md\t", "%spark.md\r\n", "%md\n%md\n", "%sql\n", "%mdx\n", "%md ${a}", "${a=1}"]
        ),
        _TEXT,
    ),
)
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_RESULTS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {
            "code": st.sampled_from(["SUCCESS", "ERROR", "INCOMPLETE"]),
            "msg": st.lists(
                st.fixed_dictionaries(
                    {"type": st.sampled_from(["TEXT", "HTML", "TABLE", "IMG", "SVG"]), "data": _TEXT},
                    optional={"extra": _JSON},
                ),
                max_size=3,
            ),
        },
        optional={"more": _JSON},
    ),
    _JSON,
)
_PARAGRAPH = st.fixed_dictionaries(
    {},
    optional={
        "text": st.none() | _SOURCE,
        "title": st.none() | _TEXT,
        "results": _RESULTS,
        "status": st.sampled_from(["READY", "FINISHED", "ERROR"]),
        "config": st.dictionaries(_TEXT, _JSON, max_size=2),
        "settings": st.fixed_dictionaries({"params": st.dictionaries(_TEXT, _JSON, max_size=2)}),
        "apps": _JSON,
    },
)


def _numbered(paragraphs: list[dict[str, Any]], ids: list[str]) -> list[dict[str, Any]]:
    return [{**paragraph, "id": one} for paragraph, one in zip(paragraphs, ids, strict=False)]


_IDS = st.lists(st.text(min_size=1, max_size=10) | st.from_regex(r"[a-z0-9-]{1,8}", fullmatch=True), unique=True)
DOCUMENTS = st.builds(
    lambda paragraphs, ids, rest: {**rest, "paragraphs": _numbered(paragraphs, ids)},
    st.lists(_PARAGRAPH, max_size=4),
    _IDS.filter(lambda ids: len(ids) >= 1),
    st.fixed_dictionaries(
        {},
        optional={
            "noteParams": st.dictionaries(_TEXT, _JSON, max_size=2),
            "noteForms": st.dictionaries(_TEXT, _JSON, max_size=2),
            "config": st.dictionaries(_TEXT, _JSON, max_size=2),
            "version": _TEXT,
            "id": _TEXT,
        },
    ),
)
"""Documents as `.zpln` files hold them."""

_METADATA = st.dictionaries(st.text(max_size=8).map("x{}".format), _JSON, max_size=2)
_OUTPUT = st.one_of(
    st.fixed_dictionaries(
        {"output_type": st.just("stream"), "name": st.sampled_from(["stdout", "stderr"]), "text": _TEXT}
    ),
    st.fixed_dictionaries(
        {
            "output_type": st.just("display_data"),
            "metadata": _METADATA,
            "data": st.dictionaries(
                st.sampled_from(["text/plain", "text/html", "image/png", "image/svg+xml"]), _TEXT, max_size=3
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "output_type": st.just("error"),
            "ename": _TEXT,
            "evalue": _TEXT,
            "traceback": st.lists(_TEXT, max_size=2),
        }
    ),
)
_CELL = st.one_of(
    st.fixed_dictionaries(
        {
            "cell_type": st.just("code"),
            "metadata": _METADATA,
            "source": _SOURCE,
            "execution_count": st.none() | st.integers(0, 9),
            "outputs": st.lists(_OUTPUT, max_size=3),
        }
    ),
    st.fixed_dictionaries(
        {"cell_type": st.sampled_from(["markdown", "raw"]), "metadata": _METADATA, "source": _SOURCE}
    ),
)


def _notebook(cells: list[dict[str, Any]], metadata: dict[str, Any]) -> dict[str, Any]:
    numbered = [{**cell, "id": f"c-{number}"} for number, cell in enumerate(cells)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": numbered}


NOTEBOOKS = st.builds(_notebook, st.lists(_CELL, max_size=4), _METADATA)
"""Valid notebooks as `.ipynb` files hold them."""
