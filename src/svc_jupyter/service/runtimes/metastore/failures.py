"""Failures of Hive's metastore.

MetastoreFailure     the metastore is unavailable: not installed, not started
MetastoreLost        the connection broke; the same call may succeed on another one
└── MetastoreSilent  no answer came in time
"""

from __future__ import annotations

from svc_jupyter.service.ground.errors import Failure


class MetastoreFailure(Failure):
    """The metastore is unavailable; the text is for the user: what, why, what to do."""


class MetastoreLost(Exception):
    """The connection broke, or none could be made."""


class MetastoreSilent(MetastoreLost):
    """No answer came in time; the request may have been carried out."""
