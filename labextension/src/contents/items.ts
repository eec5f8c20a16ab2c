import type {
  FolderType,
  IContents,
  IFolder,
  IFolderContents,
  ILocalCopy,
  IWorkspaceItem
} from '../service/records/contents';

/** The trees of the section: Jupyter notebooks are files; notes and dashboards have separate folders. */
export type TreeName = 'jupyter' | FolderType;

/** The kind of an item. */
export type ItemKind = 'tree' | 'directory' | 'notebook' | 'file' | 'folder' | 'note' | 'dashboard';

/** One item of a tree. `path` is its own, `parent` that of its container; both are empty for a tree. */
export interface IItem {
  tree: TreeName;
  kind: ItemKind;
  name: string;
  path: string;
  parent: string;
  /** A root can be neither moved nor renamed. */
  isRoot: boolean;
  /** The service's id of it, if it has one. */
  id: number | null;
}

/** Return the identity of an item. */
export function keyOf(item: IItem): string {
  return `${item.tree}:${item.kind}:${item.path}`;
}

/** Return the item of a whole tree. */
export function treeItem(tree: TreeName, name: string): IItem {
  const nowhere = { path: '', parent: '', isRoot: true, id: null };
  return { tree, kind: 'tree', name, ...nowhere };
}

/** Return whether an item can contain items. */
export function opens(item: IItem): boolean {
  return item.kind === 'tree' || isPlace(item);
}

/** Return whether items can be moved into an item. */
export function isPlace(item: IItem): boolean {
  return item.kind === 'directory' || item.kind === 'folder';
}

/** Return whether a path is an item's own, or below it. */
export function holds(item: IItem, path: string): boolean {
  return path === item.path || path.startsWith(`${item.path}/`);
}

/** Return the parent of a path; empty for a root's. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** Return the last part of a path. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Return whether a path is that of a root: `Common`, or a user's own folder in `Users`. */
export function isRootPath(path: string): boolean {
  const parts = path.split('/');
  return parts.length <= (parts[0] === 'Users' ? 2 : 1);
}

/** Return the item of a folder or directory, by its path. */
export function placeAt(tree: TreeName, path: string): IItem {
  const isRoot = isRootPath(path);
  return {
    tree,
    kind: tree === 'jupyter' ? 'directory' : 'folder',
    name: isRoot ? path : lastPart(path),
    path,
    parent: isRoot ? '' : parentOf(path),
    isRoot,
    id: null
  };
}

/** Return the item of a file, notebook or directory. */
export function contentsItem(model: IContents): IItem {
  return { ...placeAt('jupyter', model.path), kind: model.type };
}

/** Return the item of a folder of notes or dashboards; a root is named by its location. */
export function folderItem(folder: IFolder): IItem {
  return { ...placeAt(folder.type, folder.location), id: folder.id };
}

/** Return the items of a page of a folder, in the service's order. */
export function itemsOf(page: IFolderContents, tree: FolderType): IItem[] {
  const kind = tree === 'notes' ? 'note' : 'dashboard';
  const objects = page[tree] ?? [];
  return [
    ...page.folders.map(folderItem),
    ...objects.map((one): IItem => ({
      tree,
      kind,
      name: one.name,
      path: pathIn(one),
      parent: one.location,
      isRoot: false,
      id: one.id
    }))
  ];
}

/** Return the path of a note or dashboard. */
export function pathIn(item: IWorkspaceItem): string {
  return `${item.location}/${item.name}`;
}

/** Return items in the order of a tree: folders first, each kind by name. */
export function inOrder(items: Iterable<IItem>): IItem[] {
  return [...items].sort(
    (one, other) =>
      Number(isPlace(other)) - Number(isPlace(one)) || one.name.localeCompare(other.name)
  );
}

/** The answer of one call for an open item. */
export interface IPage {
  items: IItem[];
  /** The next page to fetch; null after the last one. */
  nextPage: number | null;
}

/** What a search has found in a tree. */
export interface IFound {
  items: readonly IItem[];
  /** What was left out, in the service's words if it has any; null for nothing. */
  leftOut: string | null;
}

/** One tree of the service. All methods reject with `ServiceError`. */
export interface ITree {
  /** The item of the tree itself. */
  readonly item: IItem;
  /** Return a page of an item's contents; pages count from 1. */
  list(item: IItem, page: number): Promise<IPage>;
  /** Return what has a text in its name, its id or its cells, in any folder; null where the service does not search. */
  find(text: string): Promise<IFound | null>;
  /** Create a folder; return its path. */
  create(place: IItem, name: string): Promise<string>;
  /** Return the item's new path. */
  rename(item: IItem, name: string): Promise<string>;
  /** Return the item's new path. */
  move(item: IItem, place: IItem): Promise<string>;
  remove(item: IItem): Promise<void>;
  /** Return the service's statement of what a deletion would delete; null when it cannot say. */
  whatGoes(item: IItem): Promise<string | null>;
  /** Copy an item to a folder of the Jupyter server, under a free name. */
  copy(item: IItem, folder: string): Promise<ILocalCopy>;
}
