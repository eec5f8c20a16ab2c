"""Which texts of sources the check of the prose reads."""

from __future__ import annotations

from pathlib import Path

from scripts import check_prose

SOURCES = {
    "a.py": '"""About the module itself."""\nkey = "name"\nraise E(f"{x} is not a {y} of it")\n',
    "a.ts": "f('key');\ntrans.__('%1 was not found here');\n",
    "a.tsx": 'trans.__(\n  "What is in the account\'s storage stays."\n);\n',
}


def test_messages_are_read_from_their_lines(tmp_path: Path):
    for name, source in SOURCES.items():
        (tmp_path / name).write_text(source)
    assert {name: check_prose.messages(tmp_path / name) for name in SOURCES} == {
        "a.py": {3: ["… is not a … of it"]},
        "a.ts": {2: ["… was not found here"]},
        "a.tsx": {2: ["What is in the account's storage stays."]},
    }
