"""Jupyter contents over HTTP.

The routes are no coroutines, so that they and the JSON of a large notebook are worked on in threads.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Response

from svc_jupyter.api.jupyter_contents import (
    Contents,
    ContentsCreate,
    ContentsDeleted,
    ContentsFormat,
    ContentsMove,
    ContentsSave,
    ContentsType,
)
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.workspace.contents_files import Wanted
from svc_jupyter.service.workspace.contents_models import as_json
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents
from svc_jupyter.service.workspace.searches import SearchText

router = resource_router(
    prefix="/jupyter_notebooks/contents",
    tags=["jupyter contents"],
    responses={200: {"model": Contents}},
)


async def _wanted(
    type_: Annotated[ContentsType | None, Query(alias="type", description="what it must be")] = None,
    format_: Annotated[ContentsFormat | None, Query(alias="format", description="of a file's content")] = None,
    content: Annotated[bool, Query(description="0: the model alone")] = True,
    hash_: Annotated[bool, Query(alias="hash", description="1: with the SHA-256 of the file")] = False,
) -> Wanted:
    return Wanted(type_, format_, content, hash_)


SearchDep = Annotated[
    str | None,
    Query(
        max_length=255,
        description="part of the name of anything below the folder, or of the sources of a notebook's cells",
    ),
]
ContentsDep = Annotated[JupyterContents, part(JupyterContents)]
WantedDep = Annotated[Wanted, Depends(_wanted)]


@router.get("", dependencies=[needs(Action.READ, Resource.JUPYTER_NOTEBOOK)])
def list_jupyter_roots(
    contents: ContentsDep, wanted: WantedDep, caller: CallerDep, search: SearchDep = None
) -> Response:
    """Return the folder that contains `Common` and `Users`; with `search`, everything that has the text."""
    return _answer(contents.get("", wanted, _text(search), by=caller))


@router.get("/{path:path}", dependencies=[needs(Action.READ, Resource.JUPYTER_NOTEBOOK)])
def get_jupyter_contents(
    path: str, contents: ContentsDep, wanted: WantedDep, caller: CallerDep, search: SearchDep = None
) -> Response:
    """Return a notebook, file or folder; with `search`, a folder with all below it that has the text.

    403 for another user's folder, 422 if it is not of the requested type.
    """
    return _answer(contents.get(path, wanted, _text(search), by=caller))


@router.post("/{path:path}", dependencies=[needs(Action.CREATE, Resource.JUPYTER_NOTEBOOK)])
def create_jupyter_contents(path: str, body: ContentsCreate, contents: ContentsDep, caller: CallerDep) -> Response:
    """Create a notebook, file, folder or copy in a folder. 422 if the given name is taken."""
    return _answer(contents.create(path, body, by=caller))


@router.put("/{path:path}", dependencies=[needs(Action.UPDATE, Resource.JUPYTER_NOTEBOOK)])
def save_jupyter_contents(path: str, body: ContentsSave, contents: ContentsDep, caller: CallerDep) -> Response:
    """Save a notebook or file at a path, or create a folder. 422 for content that is not a notebook, text or base64."""
    return _answer(contents.save(path, body, by=caller))


@router.patch("/{path:path}", dependencies=[needs(Action.UPDATE, Resource.JUPYTER_NOTEBOOK)])
def move_jupyter_contents(path: str, body: ContentsMove, contents: ContentsDep, caller: CallerDep) -> Response:
    """Move a notebook, file or folder to another path. 422 if something exists there."""
    return _answer(contents.move(path, body, by=caller))


@router.delete(
    "/{path:path}",
    dependencies=[needs(Action.DELETE, Resource.JUPYTER_NOTEBOOK)],
    responses={200: {"model": ContentsDeleted}},
)
def delete_jupyter_contents(path: str, contents: ContentsDep, caller: CallerDep) -> ContentsDeleted:
    """Delete a file, or a folder with its content. The root folders cannot be deleted."""
    return contents.delete(path, by=caller)


def _text(search: str | None) -> SearchText | None:
    return SearchText(search) if search else None


def _answer(model: Contents) -> Response:
    return Response(as_json(model), media_type="application/json")
