"""The kinds of object that can have a policy of their own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import sqlalchemy as sa

from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access.object_decisions import Deciding
from svc_jupyter.service.access.policy_objects import ByPath
from svc_jupyter.service.clusters.tables import clusters
from svc_jupyter.service.packages.tables import environments
from svc_jupyter.service.pipelines.tables import pipelines
from svc_jupyter.service.schedules.tables import schedules
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.workspace.admission import about_folder, about_note
from svc_jupyter.service.workspace.notebook_policies import PoliciedNotebooks
from svc_jupyter.service.workspace.tables import folders, notes

_FOLDERS = sa.select(
    folders.c.id, folders.c.account_id, sa.func.coalesce(folders.c.user_id, folders.c.root_of).label("user_id")
).subquery()
_ENVIRONMENTS = (
    sa.select(environments.c.id, environments.c.account_id, environments.c.user_id)
    .where(environments.c.deleted_at.is_(None))
    .subquery()
)
OBJECTS: Mapping[SourceType, sa.FromClause] = MappingProxyType(
    {
        SourceType.CLUSTER: clusters,
        SourceType.SCHEDULER: schedules,
        SourceType.NOTE: notes,
        SourceType.FOLDER: _FOLDERS,
        SourceType.ENVIRONMENT: _ENVIRONMENTS,
        SourceType.PIPELINE: pipelines,
    }
)
"""Where they are, with the columns id, account_id and user_id: who owns the object."""
DECIDING: Deciding = MappingProxyType({SourceType.NOTE: about_note, SourceType.FOLDER: about_folder})
"""How calls about those decide that lie in folders, whose policies count, too."""


def by_path(settings: Settings) -> ByPath:
    """Return the kinds that lie on disk and are named by their paths."""
    return MappingProxyType({SourceType.JUPYTER_NOTEBOOK: PoliciedNotebooks(settings)})
