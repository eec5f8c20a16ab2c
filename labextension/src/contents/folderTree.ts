import { pathOf, ServiceError, type ServiceRequests } from '../service';
import type {
  FolderType,
  IFolder,
  IFolderChanged,
  IFolderContents,
  ILocalCopy,
  IWorkspaceItem
} from '../service/records/contents';
import {
  type IFound,
  type IItem,
  type IPage,
  itemsOf,
  type ITree,
  pathIn,
  treeItem
} from './items';

/** How many items of a folder are fetched at once. */
const PAGE = 100;

/** The folders of notes, or those of dashboards, with their items. */
export class FolderTree implements ITree {
  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _type: FolderType,
    name: string
  ) {
    this.item = treeItem(_type, name);
  }

  readonly item: IItem;

  async list(item: IItem, page: number): Promise<IPage> {
    const query = { type: this._type, location: item.path, page, per_page: PAGE };
    const found = await this._requests.get<IFolderContents>('folders', query);
    return { items: itemsOf(found, this._type), nextPage: found.paging_info.next_page };
  }

  async find(text: string): Promise<IFound | null> {
    const query = { type: this._type, search: text, page: 1, per_page: PAGE };
    const found = await this._requests.get<IFolderContents>('folders', query);
    const items = itemsOf(found, this._type);
    // A service that does not search answers with the roots, which have no name to be found by.
    return items.some(item => item.isRoot)
      ? null
      : { items, leftOut: found.paging_info.next_page === null ? null : '' };
  }

  async create(place: IItem, name: string): Promise<string> {
    const body = { name, location: place.path, type: this._type };
    return (await this._requests.post<IFolder>('folders', body)).location;
  }

  async rename(item: IItem, name: string): Promise<string> {
    if (item.kind !== 'folder') {
      return this._change(item, { name });
    }
    const body = { ...this._of(item), name };
    return (await this._requests.put<IFolder>('folders/rename', body)).location;
  }

  async move(item: IItem, place: IItem): Promise<string> {
    if (item.kind !== 'folder') {
      return this._change(item, { location: place.path });
    }
    const body = { ...this._of(item), destination_location: place.path };
    return (await this._requests.post<IFolderChanged>('folders/move', body)).folder.location;
  }

  async remove(item: IItem): Promise<void> {
    await (item.kind === 'folder'
      ? this._requests.delete('folders/delete', { body: this._of(item) })
      : this._requests.delete(address(item)));
  }

  async whatGoes(item: IItem): Promise<string | null> {
    if (item.kind !== 'folder') {
      return null;
    }
    try {
      const told = await this._requests.get<IFolderChanged>('folders/delete', this._of(item));
      return told.message;
    } catch (reason) {
      // A service without the extension cannot say beforehand; the deletion reports any other refusal.
      if (reason instanceof ServiceError && [404, 405].includes(reason.status)) {
        return null;
      }
      throw reason;
    }
  }

  copy(item: IItem, folder: string): Promise<ILocalCopy> {
    return this._requests.post(`${address(item)}/copy`, { name: item.name, to: folder });
  }

  private async _change(item: IItem, body: object): Promise<string> {
    const changed = await this._requests.put<IWorkspaceItem>(address(item), body);
    return pathIn(changed);
  }

  private _of(item: IItem): { location: string; type: FolderType } {
    return { location: item.path, type: this._type };
  }
}

/** Return the user's own folder of notes or dashboards, else the first one. */
export async function ownFolder(requests: ServiceRequests, type: FolderType): Promise<string> {
  const query = { type, location: '' };
  const { folders } = await requests.get<IFolderContents>('folders', query);
  const places = folders.map(folder => folder.location);
  return places.find(place => place.startsWith('Users/')) ?? places[0] ?? '';
}

function address(item: IItem): string {
  return pathOf(item.kind === 'note' ? 'notes' : 'dashboards', item.id ?? 0);
}
