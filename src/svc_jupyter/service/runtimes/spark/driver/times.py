"""What the service's `db_taps/times.py` holds; a cluster gets that file in place of this one."""

from __future__ import annotations

from svc_jupyter.service.db_taps.times import (
    NOT_UTF_8,
    OUTSIDE,
    as_text,
    distinct,
    in_unicode,
    notes,
    readable,
    readable_kind,
)

__all__ = ["NOT_UTF_8", "OUTSIDE", "as_text", "distinct", "in_unicode", "notes", "readable", "readable_kind"]
