import type { IContents } from '../service/records/contents';
import type { FolderType, IFolder, IFolderContents } from '../service/records/folders';

/** The trees of the section: Jupyter notebooks are files, notes and dashboards lie in folders of their own. */
export type TreeName = 'jupyter' | FolderType;

/** What an item is. */
export type ItemKind = 'tree' | 'directory' | 'notebook' | 'file' | 'folder' | 'note' | 'dashboard';

/** One line of a tree. `path` is its own, `parent` that of what it lies in; both are empty for a tree. */
export interface IItem {
  tree: TreeName;
  kind: ItemKind;
  name: string;
  path: string;
  parent: string;
  /** A root stays where it is, and as it is called. */
  isRoot: boolean;
  /** The service's number of it, where it has one. */
  id: number | null;
}

/** Return what an item is found again by. */
export function keyOf(item: IItem): string {
  return `${item.tree}:${item.kind}:${item.path}`;
}

/** Return the line of a whole tree. */
export function treeItem(tree: TreeName, name: string): IItem {
  const nowhere = { path: '', parent: '', isRoot: true, id: null };
  return { tree, kind: 'tree', name, ...nowhere };
}

/** Return whether something can lie in an item. */
export function opens(item: IItem): boolean {
  return item.kind === 'tree' || isPlace(item);
}

/** Return whether something can be put into an item. */
export function isPlace(item: IItem): boolean {
  return item.kind === 'directory' || item.kind === 'folder';
}

/** Return whether a path is an item's own, or lies below it. */
export function holds(item: IItem, path: string): boolean {
  return path === item.path || path.startsWith(`${item.path}/`);
}

/** Return the path of what a path lies in; empty for a root's. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** Return the last part of a path. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Return the item of a file, notebook or directory that lies in another one. */
export function contentsItem(model: IContents, parent: IItem): IItem {
  const isRoot = parent.kind === 'tree';
  return {
    tree: 'jupyter',
    kind: model.type,
    name: isRoot ? model.path : model.name,
    path: model.path,
    parent: isRoot ? '' : parentOf(model.path),
    isRoot,
    id: null
  };
}

/** Return the item of a folder of notes or dashboards; a root is called by its location. */
export function folderItem(folder: IFolder): IItem {
  const isRoot = folder.parent_id === null;
  return {
    tree: folder.type,
    kind: 'folder',
    name: isRoot ? folder.location : folder.name,
    path: folder.location,
    parent: isRoot ? '' : parentOf(folder.location),
    isRoot,
    id: folder.id
  };
}

/** Return what a page of a folder has, in the service's order. */
export function itemsOf(page: IFolderContents, tree: FolderType): IItem[] {
  const kind = tree === 'notes' ? 'note' : 'dashboard';
  const objects = page[tree] ?? [];
  return [
    ...page.folders.map(folderItem),
    ...objects.map((one): IItem => ({
      tree,
      kind,
      name: one.name,
      path: `${one.location}/${one.name}`,
      parent: one.location,
      isRoot: false,
      id: one.id
    }))
  ];
}
