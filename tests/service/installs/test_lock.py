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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"o/a.jar {DIGEST}", "line 1"),
        (f"\no/a.jar {DIGEST} five", "line 2"),
        ("o/a.jar short 5", "line 1"),
        (f"../a.jar {DIGEST} 5", "line 1"),
        (f"/a.jar {DIGEST} 5", "line 1"),
        (f"o//a.jar {DIGEST} 5", "line 1"),
        ("imports hadoop", "line 1"),
        (f"o/a.jar {DIGEST} 5\np/a.jar {DIGEST} 5", "a.jar is there twice"),
    ],
)
def test_an_invalid_lock_is_refused_with_its_problem(text: str, problem: str):
    with pytest.raises(InvalidLock, match=problem):
        parse("pig-1.0.lock", text)


def test_a_lock_is_named_by_engine_and_version():
    with pytest.raises(InvalidLock, match="<engine>-<version>"):
        parse("pig.lock", "")


@pytest.mark.parametrize("file", [file.name for file in LOCKS.iterdir() if file.name.endswith(".lock")])
def test_the_locks_of_the_package_name_files_and_no_host(file: str):
    text = (LOCKS / file).read_text()
    assert parse(file, text).artifacts
    assert "://" not in text


@pytest.mark.parametrize("engine", [engine for engine in Engine if engine is not Engine.SPARK])
def test_every_engine_has_a_lock_whose_required_locks_are_there(engine: Engine):
    assert locked(engine).name == engine
    assert all(locked(name).artifacts for name in locked(engine).requires)


def test_a_lock_that_the_package_lacks_is_reported():
    with pytest.raises(InvalidLock, match="no lock for 'oven'"):
        locked("oven")
