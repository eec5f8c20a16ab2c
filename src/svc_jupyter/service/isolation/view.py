"""What a sandbox shows of the machine: the system and a few folders, as arguments of bubblewrap.

A later mount covers an earlier one, so their order decides. The paths are the same inside and outside, except `/tmp`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu")
_RESOLVER: Final = "/etc/resolv.conf"
_OWN_CONFIGURATION: Final = "svc-jupyter*"
"""Files and folders in /etc where an operator keeps the service's settings (docs/operations.md)."""
_TEMPORARY: Final = "/tmp"  # noqa: S108  of the sandbox


@dataclass(frozen=True)
class View:
    """The folders that all commands of a service see."""

    data_dir: Path
    """The service's own folder: nothing of it is shown, except `storage` and what `mounts` is given."""
    storage: Path
    """The folder inside the data folder that users may change."""
    writable: Sequence[Path] = ()
    """Further folders that users may change."""
    readable: Sequence[Path] = ()
    programs: Sequence[Path] = ()
    """Folders of programs, read-only even inside a writable folder or the data folder."""

    def mounts(
        self, *, temporary: Path, working: Path, writable: Sequence[Path] = (), readable: Sequence[Path] = ()
    ) -> list[str]:
        """Return the arguments for one command; its program starts in `working`, and `temporary` is its `/tmp`."""
        return [
            *self._system,
            *("--proc", "/proc", "--dev", "/dev"),
            *("--bind", str(temporary), _TEMPORARY),
            *self._shared,
            *_binds("--bind", (*writable, working)),
            *_binds("--ro-bind", readable),
            *self._closed,
            *("--chdir", str(working)),
        ]

    @cached_property
    def _system(self) -> list[str]:
        mounts: list[str] = []
        for name in _SYSTEM:
            if os.path.islink(name):
                mounts += ["--symlink", os.readlink(name), name]
            elif os.path.isdir(name):
                mounts += ["--ro-bind", name, name]
        resolver = os.path.realpath(_RESOLVER)
        if not resolver.startswith("/etc/") and os.path.isfile(resolver):
            mounts += ["--ro-bind", resolver, resolver]
        for entry in sorted(Path("/etc").glob(_OWN_CONFIGURATION)):
            mounts += ["--tmpfs", str(entry)] if entry.is_dir() else ["--ro-bind", os.devnull, str(entry)]
        return [*mounts, "--symlink", _TEMPORARY, "/var/tmp"]  # noqa: S108  of the sandbox

    @cached_property
    def _shared(self) -> list[str]:
        """The folders of all commands, then what hides the data folder inside them, then what is shown of it."""
        mounts = [word for folder, how in self._named.items() for word in _binds(how, [folder])]
        for on_the_way, hidden in self._covers:
            mounts += [*on_the_way, "--tmpfs", str(hidden)]
        programs = [folder for folder in _outermost(self.programs) if _is_within(folder, [self.data_dir])]
        return [*mounts, *_binds("--ro-bind", programs), *_binds("--bind", [self.storage])]

    @cached_property
    def _closed(self) -> list[str]:
        """What makes the folders read-only in which the mounts lie; they would take memory."""
        return [
            word for place in (*(hidden for _, hidden in self._covers), "/") for word in ("--remount-ro", str(place))
        ]

    @cached_property
    def _named(self) -> dict[Path, str]:
        """How each folder outside the data folder is mounted, a folder before those inside it."""
        writable = [folder for folder in _outermost(self.writable) if not _is_within(folder, [self.data_dir])]
        readable = [folder for folder in self.readable if not _is_within(folder, [self.data_dir, *writable])]
        shown_already = [self.data_dir, *map(Path, _SYSTEM)]
        programs = [folder for folder in _outermost(self.programs) if not _is_within(folder, shown_already)]
        read_only = dict.fromkeys([*readable, *programs], "--ro-bind")
        return dict(sorted({**dict.fromkeys(writable, "--bind"), **read_only}.items()))

    @cached_property
    def _covers(self) -> list[tuple[list[str], Path]]:
        """What hides the data folder in each shown folder that contains it, whatever links lead there.

        Each folder on the way becomes a mount of its own: no command can move it away with the data folder in it.
        """
        covers = []
        system = [Path(name) for name in _SYSTEM if not os.path.islink(name)]
        for shown, how in {**dict.fromkeys(system, "--ro-bind"), **self._named}.items():
            if _is_within(self.data_dir, [shown]):
                inner = self.data_dir.resolve().relative_to(shown.resolve())
                *parents, hidden = [shown.joinpath(*inner.parts[:depth]) for depth in range(len(inner.parts) + 1)]
                on_the_way = [parent for parent in parents if parent != shown and parent not in self._named]
                covers.append(([word for parent in on_the_way for word in _bind(how, parent)], hidden))
        return covers or [([], Path(os.path.abspath(self.data_dir)))]  # in the sandbox's own /tmp, it could be written


def _bind(how: str, folder: Path) -> tuple[str, str, str]:
    return how, str(folder), str(folder)


def _binds(how: str, folders: Iterable[Path]) -> list[str]:
    return [word for folder in folders if folder.exists() for word in _bind(how, folder)]


def _outermost(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that are in no other of them, sorted.

    One inside a writable folder must not be a mount's source: a command could replace it by a link to anywhere.
    """
    kept: list[Path] = []
    for folder in sorted(Path(os.path.abspath(folder)) for folder in folders):
        if not _is_within(folder, kept):
            kept.append(folder)
    return kept


def _is_within(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path is one of the folders or inside one, also by links."""
    real = path.resolve()
    return any(real.is_relative_to(folder.resolve()) for folder in folders)
