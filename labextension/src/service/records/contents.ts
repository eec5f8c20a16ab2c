import type { IPagingInfo, Schemas, With } from './contract';

/** A notebook, file or directory of the service; a directory has `content` if it was requested. */
export type IContents = With<
  Pick<
    Schemas['Contents'],
    'name' | 'path' | 'type' | 'content' | 'last_modified' | 'size' | 'writable' | 'message'
  >,
  { content: IContents[] | null; size: number | null }
>;

/** The Jupyter server's record of a local copy of a notebook or file. */
export interface ILocalCopy {
  name: string;
  path: string;
  type: 'file' | 'notebook';
}

/** The two trees of folders. */
export type FolderType = 'notes' | 'notebook_dashboards';

/** A folder of notes or of dashboards; a root has no parent. `location` is its own path, for the other calls. */
export type IFolder = With<
  Pick<Schemas['Folder'], 'id' | 'name' | 'location' | 'type' | 'parent_id'>,
  { type: FolderType; parent_id: number | null }
>;

/** A note or dashboard without its document; `location` is its folder. */
export type IWorkspaceItem = Pick<Schemas['NoteSummary'], 'id' | 'name' | 'location'>;

/** A note; `version` counts its edits and is absent when the service has no versions. */
export type INoteRecord = IWorkspaceItem & Partial<Pick<Schemas['NoteSummary'], 'version'>>;

/** One page of a folder's items, folders first, by name. */
export interface IFolderContents {
  folders: IFolder[];
  notes?: IWorkspaceItem[];
  notebook_dashboards?: IWorkspaceItem[];
  paging_info: IPagingInfo;
}

/** The answer to a move or a deletion. */
export interface IFolderChanged {
  message: string;
  folder: IFolder;
}
