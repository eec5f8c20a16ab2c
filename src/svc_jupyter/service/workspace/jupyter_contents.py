"""Notebooks, files and folders of the account.

All methods block: worker threads call them.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence

from svc_jupyter.api.jupyter_contents import (
    Contents,
    ContentsCreate,
    ContentsDeleted,
    ContentsMove,
    ContentsSave,
)
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.accounts import Accounts, lock_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, Target, decide, decision
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, translated
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.workspace import contents_files, notebook_ids
from svc_jupyter.service.workspace import contents_models as models
from svc_jupyter.service.workspace.contents_access import AdmittedPath, ContentsAccess
from svc_jupyter.service.workspace.contents_files import Wanted, model_of, require_folder, status_of, translated_errors
from svc_jupyter.service.workspace.contents_paths import (
    COMMON,
    NOTEBOOK_SUFFIX,
    USERS,
    ContentsPath,
    check_name,
    copy_names,
    parse_path,
)
from svc_jupyter.service.workspace.notebook_documents import NotANotebookError, encoded, require_outline
from svc_jupyter.service.workspace.searches import SearchText, files_below

COPY_LIMIT_BYTES = 500 * 10**6
"""Larger copies are refused: the caller waits for the copy."""


class JupyterContents:
    """The account's contents, with the roots `Common` and `Users/<e-mail>`.

    Every method raises `Forbidden` while the feature is off, for a caller without the permission, and for another
    user's folder; `Invalid` for an invalid path; `NotFound` if nothing is there.
    """

    def __init__(self, settings: Settings, database: Database, accounts: Accounts) -> None:
        self._database = database
        self._places = ContentsAccess(settings, database, accounts)

    def get(self, path: str, wanted: Wanted, text: SearchText | None = None, *, by: Caller) -> Contents:
        """Return a file, notebook or folder; `Invalid` when it does not have the requested type or format.

        A folder is returned without the notebooks that the caller may not read. With a text to search for, its content
        is all that is below it and has the text in its name; its `message` says when that may not be all.
        """
        parsed = parse_path(path)
        if text is not None:
            return self._found(parsed, wanted, text, by)
        if parsed.is_above_roots:
            self._places.admit(by, Action.READ)
            contents_files.check_type(parsed, "directory", wanted.type)
            return self._above_roots(parsed, by, content=wanted.content)
        place = self._places.place(parsed, by, Action.READ)
        with translated_errors(place.path):
            model = contents_files.read(place, wanted)
        if model.type != "directory" or model.content is None:
            return model
        hidden = self._places.hidden(place, by)
        return models.with_children(model, [child for child in model.content if child.name not in hidden])

    def create(self, path: str, request: ContentsCreate, *, by: Caller) -> Contents:
        """Create a notebook, file or folder in the folder `path`, or a copy, and return it without its content."""
        folder = self._places.place(path, by, Action.CREATE)
        require_folder(folder)
        if request.name is not None:
            check_name(request.name, "name")
        if request.copy_from is not None:
            name = self._copy(request.copy_from, folder, request.name, by)
        else:
            name = contents_files.create(folder, request)
        self._record_change(by, "create", folder / name, forget=True)
        return model_of(folder / name)

    def save(self, path: str, request: ContentsSave, *, by: Caller) -> Contents:
        """Store a notebook or file, replacing an existing one, or create a folder; return it without content.

        Its `message` says what of a notebook was repaired.
        """
        place = self._inner_place(path, by, Action.UPDATE)
        if request.copy_from is not None:
            raise Invalid("copy_from: a copy is made by POST to the folder it goes to")
        if request.chunk is not None:
            raise Invalid("chunk: a file is uploaded in one request, not in chunks")
        is_new = not _is_there(place)
        if is_new:  # a policy of a former object there does not apply
            self._places.place(path, by, Action.UPDATE, is_new=True)
        require_folder(place.folder)
        with translated_errors(place.path):
            note = contents_files.save(place, request)
        self._record_change(by, "save", place, forget=is_new)
        return model_of(place).model_copy(update={"message": note})

    def move(self, path: str, request: ContentsMove, *, by: Caller) -> Contents:
        """Move a file or folder to the requested path, and return it without content; its policy moves along.

        Raises `Invalid` when the path is taken, and for a folder that would contain itself; `Forbidden` when a notebook
        with a policy would become another user's, and the caller may not set its policy.
        """
        source = self._inner_place(path, by, Action.UPDATE)
        target = self._inner_place(request.path, by, Action.UPDATE, is_new=True)
        if target.path == source.path:
            return model_of(source)
        if target.parts[: len(source.parts)] == source.parts:
            raise Invalid(f"path: {source.path} cannot be moved into itself")
        status_of(source)
        require_folder(target.folder)
        self._places.admit_below(by, Action.UPDATE, source)
        # All in one transaction, which a disk failure rolls back.
        with self._database.begin() as connection:
            lock_account(connection, by.account_id)  # no policy can be set meanwhile
            moved = notebook_ids.move(connection, by.account_id, source.parts, target.parts, target.owner_id)
            for row in moved:
                _require_policy_right(by, row.id, row.user_id, target)
            trail.record(
                connection, by, "move", Resource.JUPYTER_NOTEBOOK, str(target.path), moved_from=str(source.path)
            )
            with translated_errors(target.path):
                source.tree.move(source.parts, target.parts)
        return model_of(target)

    def delete(self, path: str, *, by: Caller) -> ContentsDeleted:
        """Delete a file, or a folder with its contents, and forget its policy."""
        place = self._inner_place(path, by, Action.DELETE)
        self._places.admit_below(by, Action.DELETE, place)
        with translated_errors(place.path):
            place.tree.delete(place.parts)
        self._record_change(by, "delete", place, forget=True)
        return ContentsDeleted(path=str(place.path))

    def check_notebook(self, path: str, caller: Caller) -> None:
        """Raise, with the reason, unless `path` is a notebook that the caller may run now."""
        self._runnable_place(path, caller)

    def read_notebook(self, path: str, *, account_id: int, users: Sequence[int]) -> str:
        """Return the current text of a notebook's file, which all the users may run with their current rights.

        Raises `Forbidden` also when one of them is disabled, `Invalid` for a file that is not a notebook.
        """
        place, *_ = [self._runnable_place(path, self._places.caller(account_id, user_id)) for user_id in users]
        with translated_errors(place.path):
            data, _ = place.tree.read(place.parts, contents_files.READ_LIMIT_BYTES)
        with translated(NotANotebookError, to=Invalid, about=f"{place.path} is not a notebook"):
            return require_outline(data)

    def replace_notebook(self, path: str, text: str, *, account_id: int, users: Sequence[int], command_id: int) -> None:
        """Replace a notebook by the copy that a command has executed, atomically for all readers.

        Acts as the first of the users, all of whom must have the permission. Raises `NotFound` when it was moved or
        deleted meanwhile, `Invalid` when the text is too large to be read again, `Unavailable` when there is no room.
        The old one stays then.
        """
        callers = [self._places.caller(account_id, user_id) for user_id in users]
        place, *_ = [self._notebook_place(path, caller, Action.UPDATE) for caller in callers]
        data = encoded(text)
        if len(data) > contents_files.READ_LIMIT_BYTES:
            limit = contents_files.READ_LIMIT_BYTES
            raise Invalid(f"{place.path} stays as it was: the new text has {len(data)} bytes, more than {limit}")
        with translated_errors(place.path):
            place.tree.save(place.parts, data, must_exist=True)
        self._record_change(callers[0], "replace", place, command_id=command_id)

    def sweep(self) -> None:
        """Remove unfinished files of killed processes; called periodically."""
        self._places.sweep()

    def _record_change(
        self, by: Caller, action: str, place: AdmittedPath, *, forget: bool = False, command_id: int | None = None
    ) -> None:
        """Log a change right after it: files and the database have no common transaction.

        With `forget` the former object there is gone, and its policy is deleted.
        """
        detail = {} if command_id is None else {"command_id": command_id}
        with self._database.begin() as connection:
            if forget:
                notebook_ids.forget(connection, by.account_id, place.parts)
            trail.record(connection, by, action, Resource.JUPYTER_NOTEBOOK, str(place.path), **detail)

    def _above_roots(self, path: ContentsPath, by: Caller, *, content: bool) -> Contents:
        folders = self._places.user_folders(by)
        if path.parts:
            children = [_user_folder(place, since) for place, since in folders]
        else:
            common = model_of(self._places.place(COMMON, by, Action.READ))
            children = [common, self._above_roots(ContentsPath((USERS,)), by, content=False)]
        since = min((seconds for _, seconds in folders), default=0.0)
        model = models.virtual_folder(path, since, writable=False)
        return models.with_children(model, children) if content else model

    def _found(self, path: ContentsPath, wanted: Wanted, text: SearchText, by: Caller) -> Contents:
        if path.is_above_roots:
            self._places.admit(by, Action.READ)
            model = self._above_roots(path, by, content=False)
            starts = [place for place, _ in self._places.user_folders(by)]
            if not path.parts:
                starts.insert(0, self._places.place(COMMON, by, Action.READ))
        else:
            starts = [self._places.place(path, by, Action.READ)]
            model = model_of(starts[0])
        contents_files.check_type(path, model.type, wanted.type)
        if model.type != "directory":
            raise Invalid(f"path: {path} is a {model.type}; search in a folder")
        found, left_out = files_below({place: self._places.hidden_below(place, by) for place in starts}, text)
        return models.with_children(model, found).model_copy(update={"message": left_out})

    def _inner_place(self, path: str, by: Caller, action: Action, *, is_new: bool = False) -> AdmittedPath:
        place = self._places.place(path, by, action, is_new=is_new)
        if place.path.is_root:
            raise Invalid(f"path: {place.path} is a root folder, which cannot be replaced, moved or deleted")
        return place

    def _notebook_place(self, path: str, caller: Caller, action: Action) -> AdmittedPath:
        place = self._places.place(path, caller, action)
        status = status_of(place)
        if stat.S_ISDIR(status.st_mode):
            raise Invalid(f"path: {place.path} is a folder, not a notebook")
        if not place.path.name.endswith(NOTEBOOK_SUFFIX):
            raise Invalid(f"path: {place.path} is not a notebook: its name must end with {NOTEBOOK_SUFFIX}")
        return place

    def _runnable_place(self, path: str, caller: Caller) -> AdmittedPath:
        """Return the place of a notebook that the caller may run: with read permission, or by roles only update."""
        reads, changes = (
            decision(caller, action, Resource.JUPYTER_NOTEBOOK).allowed for action in (Action.READ, Action.UPDATE)
        )
        if reads or not changes:
            return self._notebook_place(path, caller, Action.READ)
        place = self._notebook_place(path, caller, Action.UPDATE)
        if place.path.name in self._places.hidden(place.folder, caller):
            self._places.place(path, caller, Action.READ)  # raises with the policy that denies it
        return place

    def _copy(self, path: str, folder: AdmittedPath, name: str | None, by: Caller) -> str:
        source = self._inner_place(path, by, Action.READ)
        status_of(source)
        self._places.admit_below(by, Action.READ, source)
        if folder.parts[: len(source.parts)] == source.parts:
            raise Invalid(f"copy_from: {source.path} cannot be copied into itself")
        names: Iterable[str] = copy_names(source.path.name) if name is None else [name]
        with translated_errors(folder.path / name if name else source.path):
            return folder.tree.copy(source.parts, folder.parts, names, COPY_LIMIT_BYTES)


def _is_there(place: AdmittedPath) -> bool:
    try:
        status_of(place)
    except NotFound:
        return False
    return True


def _require_policy_right(by: Caller, notebook_id: int, owner_id: int | None, target: AdmittedPath) -> None:
    """Raise `Forbidden` when a move would take a notebook's policy away from a user who may set it."""
    if target.owner_id == owner_id:
        return
    found = decide(by, Action.UPDATE, Resource.OBJECT_POLICY, Target(notebook_id, owner_id))
    if not found.allowed:
        raise Forbidden(
            f"{Resource.JUPYTER_NOTEBOOK} {notebook_id} has a policy, and at {target.path} somebody else could set it; "
            f"{found.because} (permission to set the policy of {Resource.JUPYTER_NOTEBOOK} {notebook_id})"
        )


def _user_folder(place: AdmittedPath, since: float) -> Contents:
    try:
        return model_of(place)
    except NotFound:
        return models.virtual_folder(place.path, since, writable=True)
