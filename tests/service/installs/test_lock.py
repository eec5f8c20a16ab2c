from __future__ import annotations

from importlib.resources import files

import pytest

from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.failures import InvalidLock
from svc_jupyter.service.installs.lock import Artifact, locked, parse

DIGEST = "ab" * 32
LOCKS = files("svc_jupyter.service.installs.locks")


def test_a_lock_has_name_version_words_and_files_in_their_order():
    text = f"# why\nrequires hadoop\nroot g:a:1\nwithout g:b\n\no/b-1.jar {DIGEST} 5  # first\no/a-1.jar {DIGEST} 6\n"
    lock = parse("hive-metastore-2.3.10.lock", text)
    assert (lock.name, lock.version, lock.size) == ("hive-metastore", "2.3.10", 11)
    assert (lock.requires, lock.roots, lock.without) == (("hadoop",), ("g:a:1",), ("g:b",))
    assert lock.artifacts == (Artifact("o/b-1.jar", DIGEST, 5), Artifact("o/a-1.jar", DIGEST, 6))


def test_another_order_is_another_installation():
    lines = [f"o/b-1.jar {DIGEST} 5", f"o/a-1.jar {DIGEST} 6"]
    one, other = (parse("pig-1.0.lock", "\n".join(order)) for order in (lines, lines[::-1]))
    assert one.digest != other.digest


def refusal(text: str) -> str:
    with pytest.raises(InvalidLock) as refused:
        parse("pig-1.0.lock", text)
    return str(refused.value)


def test_an_invalid_lock_is_refused_with_its_problem():
    no_line = "pig-1.0.lock, line 1: not <path> <sha256> <size>, nor a known word"
    refused = {
        f"o/a.jar {DIGEST}": no_line,
        f"\no/a.jar {DIGEST} five": "pig-1.0.lock, line 2: not <path> <sha256> <size>, nor a known word",
        "o/a.jar short 5": no_line,
        f"../a.jar {DIGEST} 5": no_line,
        f"/a.jar {DIGEST} 5": no_line,
        f"o//a.jar {DIGEST} 5": no_line,
        "imports hadoop": no_line,
        f"o/a.jar {DIGEST} 5\np/a.jar {DIGEST} 5": "pig-1.0.lock: a.jar is there twice, and would be in one folder",
    }
    assert {text: refusal(text) for text in refused} == refused


def test_a_lock_is_named_by_engine_and_version():
    with pytest.raises(InvalidLock, match="<engine>-<version>"):
        parse("pig.lock", "")


def test_the_locks_of_the_package_name_files_and_no_host():
    texts = {file.name: file.read_text() for file in LOCKS.iterdir() if file.name.endswith(".lock")}
    assert len(texts) > 5
    assert [name for name, text in texts.items() if not parse(name, text).artifacts or "://" in text] == []


def test_every_engine_has_a_lock_whose_required_locks_are_there():
    locks = {engine: locked(engine) for engine in Engine if engine is not Engine.SPARK}
    assert {engine: lock.name for engine, lock in locks.items()} == {engine: engine for engine in locks}
    required = {name for lock in locks.values() for name in lock.requires}
    assert [name for name in required if not locked(name).artifacts] == []


def test_a_lock_that_the_package_lacks_is_reported():
    with pytest.raises(InvalidLock, match="no lock for 'oven'"):
        locked("oven")
