import type { IPagingInfo } from './paging';

/** The two trees of folders. */
export type FolderType = 'notes' | 'notebook_dashboards';

/** A folder of notes or of dashboards; a root has no parent. */
export interface IFolder {
  id: number;
  name: string;
  /** Its own place, as the other calls take it. */
  location: string;
  type: FolderType;
  parent_id: number | null;
}

/** A note or dashboard without its document; `location` is the folder it lies in. */
export interface IWorkspaceItem {
  id: number;
  name: string;
  location: string;
}

/** A note. */
export interface INoteRecord extends IWorkspaceItem {
  /** Counts its edits; absent where the service does not count them. */
  version?: number;
}

/** One page of what is in a folder, by name, folders first. */
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
