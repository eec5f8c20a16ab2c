"""Settings of all cells: `%svc_config NAME VALUE`, or `%config SvcMagics.NAME = VALUE`."""

from __future__ import annotations

from traitlets import Int, Unicode
from traitlets.config import Configurable


class SvcMagics(Configurable):
    """Settings of the svc_jupyter magics."""

    base_url = Unicode(
        None, allow_none=True, help="Address of the service; empty: SVC_BASE_URL, the profile, or one on this machine."
    ).tag(config=True)
    profile = Unicode(None, allow_none=True, help="Profile of the configuration file to use.").tag(config=True)
    default_tap = Unicode(None, allow_none=True, help="DB tap of %%svc_db without --tap (name or id).").tag(config=True)
    default_label = Unicode(None, allow_none=True, help="Cluster label of commands without --label.").tag(config=True)
    default_time_zone = Unicode(
        None, allow_none=True, help="Time zone of %%svc_schedule without --tz, such as Europe/Paris; empty: UTC."
    ).tag(config=True)
    rows_shown = Int(1000, min=0, help="Rows of a result that a notebook shows; -n overrides it.").tag(config=True)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all settings, sorted."""
        return sorted(cls.class_own_traits(config=True))
