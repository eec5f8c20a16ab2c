from __future__ import annotations

import base64

from svc_jupyter.cli.run_notebook import cell_text, error_text, output_text


def test_code_stands_behind_a_bar():
    assert cell_text({"cell_type": "code", "source": "a = 1\nprint(a)"}) == "│ a = 1\n│ print(a)"


def test_a_heading_becomes_a_rule_and_prose_stays():
    text = cell_text({"cell_type": "markdown", "source": "## Delays\n\nBy the *hour*.\n#no heading"})
    heading, *rest = text.splitlines()
    assert heading.startswith("── Delays ──")
    assert len(heading) == 100
    assert rest == ["", "By the *hour*.", "#no heading"]


def test_a_printed_stream_is_shown_without_its_last_line_end():
    assert output_text({"output_type": "stream", "name": "stdout", "text": "one\ntwo\n"}) == "one\ntwo"


def test_a_table_is_shown_as_text_not_as_html():
    data = {"text/plain": "   n\n0  1", "text/html": "<table></table>"}
    assert output_text({"output_type": "execute_result", "data": data}) == "   n\n0  1"


def test_a_picture_is_reported_by_kind_and_size():
    picture = base64.b64encode(bytes(30_000)).decode()
    data = {"text/plain": "<Figure size 640x480>", "image/png": picture}
    assert output_text({"output_type": "display_data", "data": data}) == "[png picture, 30 kB: see the executed copy]"


def test_an_output_without_text_names_its_kinds():
    assert output_text({"output_type": "display_data", "data": {"application/x-thing": {}}}) == "[application/x-thing]"


def test_an_error_is_shown_without_colours():
    output = {"output_type": "error", "ename": "E", "evalue": "no", "traceback": ["\x1b[31mE\x1b[0m: no", "  line 3"]}
    assert output_text(output) == "E: no\n  line 3"


def test_the_closing_line_takes_the_first_line_of_an_error():
    assert error_text("SvcCommandFailed", "\x1b[1mcommand 9 failed\x1b[0m\n  query, line 3") == (
        "SvcCommandFailed: command 9 failed"
    )
    assert error_text("KeyboardInterrupt", "") == "KeyboardInterrupt"
