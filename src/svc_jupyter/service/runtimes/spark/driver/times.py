"""What the service's `db_taps/times.py` holds; a cluster gets that file in place of this one."""

from __future__ import annotations

from svc_jupyter.service.db_taps.times import OUTSIDE, as_text, in_unicode, notes, readable, readable_kind

__all__ = ["OUTSIDE", "as_text", "in_unicode", "notes", "readable", "readable_kind"]
