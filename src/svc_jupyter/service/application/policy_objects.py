"""The kinds of object that can have a policy of their own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import sqlalchemy as sa

from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access.object_policies import Deciding
from svc_jupyter.service.access.policy_objects import ByPath
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.clusters import clusters
from svc_jupyter.service.schema.packages import environments
from svc_jupyter.service.schema.pipelines import pipelines
from svc_jupyter.service.schema.schedules import schedules
from svc_jupyter.service.schema.workspace import folders, notes
from svc_jupyter.service.workspace.admission import about_folder, about_note
from svc_jupyter.service.workspace.notebook_policies import PoliciedNotebooks

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
"""Their tables, with the columns id, account_id and user_id (the owner)."""
DECIDING: Deciding = MappingProxyType({SourceType.NOTE: about_note, SourceType.FOLDER: about_folder})
"""Decides calls about objects in folders, whose policies also count."""


def by_path(settings: Settings) -> ByPath:
    """Return the kinds that are files on disk and named by their paths."""
    return MappingProxyType({SourceType.JUPYTER_NOTEBOOK: PoliciedNotebooks(settings)})
