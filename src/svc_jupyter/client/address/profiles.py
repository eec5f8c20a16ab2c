"""Writing the profile file that config.py reads: what a person enters once in a page, and never again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from svc_jupyter.client.address.config import clean_base_url, config_file
from svc_jupyter.client.errors import ConfigurationError


def write_profile(profile: str, base_url: str, token: str, *, environ: Mapping[str, str] | None = None) -> Path:
    """Write address and token of a profile into the profile file, which becomes its owner's alone; return its path.

    Other profiles and the file's comments stay. The file is replaced as a whole: whoever reads it sees it before or
    after. Raises ConfigurationError, whose text never holds a token, when the file cannot be understood or written.
    """
    path = config_file(os.environ if environ is None else environ)
    entry = tomlkit.table()
    entry.update({"base_url": clean_base_url(base_url), "token": token})
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        profiles = document.setdefault("profiles", tomlkit.table(is_super_table=True))
        profiles[profile] = entry
        _replace(path, tomlkit.dumps(document))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
    except (TOMLKitError, UnicodeDecodeError, TypeError, AttributeError):
        # The parser's own words quote the file, and the file may hold a token.
        raise ConfigurationError(f"{path} is not a file of profiles; mend or move it") from None
    return path


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".config-")  # readable by its owner alone
    part = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
