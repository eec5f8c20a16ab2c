"""Which texts of sources the check of the prose reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import check_prose


@pytest.mark.parametrize(
    ("name", "source", "texts"),
    [
        (
            "a.py",
            '"""About the module itself."""\nkey = "name"\nraise E(f"{x} is not a {y} of it")\n',
            {3: "is not a … of it"},
        ),
        ("a.ts", "f('key');\ntrans.__('%1 was not found here');\n", {2: "was not found here"}),
        (
            "a.tsx",
            'trans.__(\n  "What is in the account\'s storage stays."\n);\n',
            {2: "What is in the account's storage"},
        ),
    ],
)
def test_messages_are_read_from_their_lines(tmp_path: Path, name: str, source: str, texts: dict[int, str]):
    file = tmp_path / name
    file.write_text(source)
    found = check_prose.messages(file)
    assert found.keys() == texts.keys()
    assert all(text in " ".join(found[line]) for line, text in texts.items())
