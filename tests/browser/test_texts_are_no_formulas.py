"""Text between dollar signs is shown as it is, wherever a magic shows text that people or data wrote."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import LabPage
from tests.support.service_process import ServiceProcess
from tests.support.workplace import Workplace

PRICES = r"from $5 to $10, \(x\), $$y$$"
NAME = "cost $5 or $10"


@pytest.fixture
def place(service: ServiceProcess) -> Iterator[Workplace]:
    place = Workplace(service)
    yield place
    place.close()


def shown(page: LabPage, *cells: str) -> list[Locator]:
    """Run cells in a notebook after one whose formula shows that this page does typeset; return their outputs."""
    formula = "from IPython.display import HTML\nHTML('<p>$x^2$</p>')"
    page.write_notebook("texts.ipynb", "%load_ext svc_jupyter", formula, *cells)
    page.open("texts.ipynb", panel=False)
    page.run_cell(0)
    expect(page.run_cell(1).locator("mjx-container")).to_be_visible()
    return [page.run_cell(number) for number in range(2, 2 + len(cells))]


def is_as_written(output: Locator, text: str) -> None:
    """Check that an output holds a text, and nothing that was typeset once typesetting is over."""
    expect(output).to_contain_text(text)
    output.page.evaluate(
        "async () => { const math = window.MathJax?.startup?.promise; await math; "
        "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); }"
    )
    expect(output.locator("mjx-container")).to_have_count(0)


def test_no_display_takes_text_for_mathematics(page: LabPage, place: Workplace) -> None:
    paragraph = {"text": "%md\nprices ${p(between $5 and $10)=1}"}
    note = place.note(NAME, paragraphs=[paragraph])
    result, lines, history, shown_note, form = shown(
        page,
        f"%%svc_shell --format csv --name '{NAME}'\ncat <<'END'\nprice\n\"{PRICES}\"\nEND",
        f"%%svc_shell --name '{NAME}'\ncat <<'END'\n{PRICES}\nEND",
        "%svc_history",
        f"%svc_note show {note}",
        f"%svc_note form {note}",
    )
    is_as_written(result, PRICES)
    is_as_written(lines, PRICES)
    is_as_written(history, NAME)
    is_as_written(shown_note, NAME)
    is_as_written(form, NAME)
    is_as_written(form, "between $5 and $10")
