"""The executed notebook as a page that cannot reach the service."""

from __future__ import annotations

import nbformat
import pytest
from tests.service.kinds.notebook.notebooks import notebook

from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.kinds.notebook.pages import PAGE_HEADERS, NotebookPages, executed_notebook


@pytest.fixture
def executed(tmp_path):
    """The executed notebook of a command's first attempt."""
    found = notebook("'<script>source</script>'")
    found.cells[0].outputs = [nbformat.v4.new_output("stream", text="shown & told\n")]
    file = tmp_path / "7" / "1" / "executed.ipynb"
    file.parent.mkdir(parents=True)
    nbformat.write(found, file)
    return file


def test_the_last_attempt_that_has_one_counts(executed, tmp_path):
    root = tmp_path / "7"
    assert executed_notebook(root, 1) == executed
    (root / "2").mkdir()
    assert executed_notebook(root, 2) == executed
    (root / "2" / "executed.ipynb").touch()
    assert executed_notebook(root, 2).parent.name == "2"


def test_a_command_that_never_began_has_none(tmp_path):
    with pytest.raises(NotFound, match="command 7 has no executed notebook"):
        executed_notebook(tmp_path / "7", 0)


async def test_a_page_shows_cells_outputs_and_the_images_attached_to_markdown_and_is_made_once(executed):
    found = nbformat.read(executed, 4)
    source = (
        "![as markdown](attachment:a.png) ![quoted](attachment:b%20c.png) ![lost](attachment:lost.png)\n\n"
        "<img width=9 src=\"attachment:b%20c.png\"> and <img src='attachment:b c.png'>\n\n"
        '`<img src="attachment:a.png">` <img src="attachment:none.png">'
    )
    attachments = {"a.png": {"image/png": "QQ=="}, "b c.png": {"text/plain": "b", "image/gif": "Qg=="}}
    found.cells.append(nbformat.v4.new_markdown_cell(source, attachments=attachments))
    nbformat.write(found, executed)
    pages = NotebookPages()
    page = await pages.page(executed)
    text = page.read_text()
    assert "shown &amp; told" in text
    assert "<script>source</script>" not in text
    assert text.count("data:image/png;base64,QQ==") == 1
    assert text.count('src="data:image/gif;base64,Qg=="') == 3
    assert 'alt="lost" src="data:image/png;base64,"' in text
    assert '&lt;img src="attachment:a.png"&gt;' in text
    assert text.count('src="data:image/png;base64,"') == 2
    made = page.stat().st_mtime_ns
    assert (await pages.page(executed)).stat().st_mtime_ns == made
    assert sorted(file.name for file in page.parent.iterdir()) == ["executed.html", "executed.ipynb"]


async def test_a_notebook_that_cannot_be_shown_is_reported(executed):
    executed.write_text("{")
    with pytest.raises(Invalid, match="cannot be shown as HTML"):
        await NotebookPages().page(executed)
    assert [file.name for file in executed.parent.iterdir()] == ["executed.ipynb"]


def test_a_page_runs_in_an_origin_of_its_own_without_a_network():
    policy = PAGE_HEADERS["Content-Security-Policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy
