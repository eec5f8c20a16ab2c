"""Files that a reader sees whole or not at all, and who may read them.

A file is written under another name in the same folder, then renamed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_ANY_MODE = 0o666
"""What `open` asks for; the umask takes from it."""
_PRIVATE_UMASK = 0o077
_users_umask: int | None = None


def keep_files_private() -> None:
    """Create files for this process's user alone from now on; users' programs get the earlier umask."""
    global _users_umask  # noqa: PLW0603  a process has one umask
    _users_umask = os.umask(_PRIVATE_UMASK)


def users_umask() -> int:
    """Return the umask for users' programs; -1 where this process has it, as `subprocess.Popen` takes it."""
    return -1 if _users_umask is None else _users_umask


def with_users_umask(argv: Sequence[str]) -> Sequence[str]:
    """Return a program that starts `argv` with the umask for users' programs."""
    return argv if _users_umask is None else ["/bin/sh", "-c", 'umask "$0" && exec "$@"', f"{_users_umask:04o}", *argv]


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Yield the path of a draft in the folder of `file`, which replaces `file` at the end; an error removes it."""
    # Not `.part` or the file's own suffix: some programs read whatever in a folder has theirs.
    draft = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    try:
        yield draft
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_whole(file: Path, content: str | bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Write a file, a text as UTF-8. Raises `OSError`; the file before it stays then.

    `mode` applies from the first byte on and whatever the umask is. With `durable` the content is on the disk when this
    returns.
    """

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags, _ANY_MODE if mode is None else mode)

    with replacing(file) as draft:
        with open(draft, "xb", opener=opener) as opened:
            opened.write(content.encode() if isinstance(content, str) else content)
            if durable:
                opened.flush()
                os.fsync(opened.fileno())
        if mode is not None:
            draft.chmod(mode)
