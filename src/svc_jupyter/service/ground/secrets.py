"""Stored secrets: passwords and keys are encrypted with a key that is stored beside the database, not in it."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.files import write_whole

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class SecretBox:
    """Encrypts and decrypts short texts with the key in `DATA_DIR/secret.key` (mode 0600, created at first use)."""

    def __init__(self, key_file: Path) -> None:
        self._key_file = key_file

    def seal(self, text: str) -> str:
        """Return `text` encrypted, as ASCII."""
        return self._fernet.encrypt(text.encode()).decode("ascii")

    def open(self, sealed: str) -> str:
        """Return the text that was passed to `seal`.

        Raises `ValueError` when it was sealed with another key.
        """
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(sealed.encode("ascii")).decode()
        except InvalidToken as error:
            raise ValueError(
                f"a stored secret cannot be read: {self._key_file.name} in the data folder is not the key it was "
                "stored with; restore that file or enter the secret again"
            ) from error

    @cached_property
    def _fernet(self) -> Fernet:
        from cryptography.fernet import Fernet

        return Fernet(self._read_or_make_key(Fernet.generate_key()))

    def _read_or_make_key(self, fresh: bytes) -> bytes:
        """Return the key; of replicas and threads that come together, the first one to link its file creates it."""
        if not self._key_file.exists():
            draft = self._key_file.with_name(f".{self._key_file.name}.{os.urandom(4).hex()}")
            write_whole(draft, fresh, mode=0o600, durable=True)
            try:
                os.link(draft, self._key_file)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return self._key_file.read_bytes().strip()
