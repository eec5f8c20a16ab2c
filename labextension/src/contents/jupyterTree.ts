import { notify } from '../notices';
import { pathOf, type ServiceRequests } from '../service';
import type { IContents, ILocalCopy } from '../service/records/contents';
import {
  contentsItem,
  type IFound,
  type IItem,
  inOrder,
  type IPage,
  isRootPath,
  type ITree,
  treeItem
} from './items';

/** Contains the users' roots; it is not shown itself. */
const USERS = 'Users';

/** The service's Jupyter notebooks, files and directories. */
export class JupyterTree implements ITree {
  constructor(
    private readonly _requests: ServiceRequests,
    name: string
  ) {
    this.item = treeItem('jupyter', name);
  }

  readonly item: IItem;

  async list(item: IItem): Promise<IPage> {
    if (item.kind !== 'tree') {
      return { items: inOrder((await this._content(item.path)).map(contentsItem)), nextPage: null };
    }
    const tops = await this._content('');
    const found = await Promise.all(
      tops.map(async top => (top.path === USERS ? this._content(USERS) : [top]))
    );
    return { items: inOrder(found.flat().map(contentsItem)), nextPage: null };
  }

  async find(text: string): Promise<IFound | null> {
    const query = { type: 'directory', search: text };
    const { content, message } = await this._requests.get<IContents>(address(''), query);
    const found: IContents[] = content ?? [];
    // A service that does not search answers with the roots, which have no name to be found by.
    return found.some(({ path }) => isRootPath(path))
      ? null
      : { items: found.map(contentsItem), leftOut: message ?? null };
  }

  async create(place: IItem, name: string): Promise<string> {
    const body = { type: 'directory', name };
    return (await this._requests.post<IContents>(address(place.path), body)).path;
  }

  rename(item: IItem, name: string): Promise<string> {
    return this._become(item, `${item.parent}/${name}`);
  }

  move(item: IItem, place: IItem): Promise<string> {
    return this._become(item, `${place.path}/${item.name}`);
  }

  async remove(item: IItem): Promise<void> {
    await this._requests.delete(address(item.path));
  }

  whatGoes(): Promise<string | null> {
    return Promise.resolve(null);
  }

  copy(item: IItem, folder: string): Promise<ILocalCopy> {
    return this._requests.post('downloads', { path: item.path, to: folder });
  }

  /** Return whether a path exists. */
  async has(place: IItem, name: string): Promise<boolean> {
    const { items } = await this.list(place);
    return items.some(item => item.name === name);
  }

  /** Store a file of the Jupyter server in a directory, and say what of it was repaired; replaces an item of its name. */
  async store(local: string, place: IItem, name: string): Promise<string> {
    const body = { path: local, to: `${place.path}/${name}` };
    const { path, message } = await this._requests.post<IContents>('uploads', body);
    if (message) {
      notify(message);
    }
    return path;
  }

  private async _content(path: string): Promise<IContents[]> {
    const query = { type: 'directory' };
    return (await this._requests.get<IContents>(address(path), query)).content ?? [];
  }

  private async _become(item: IItem, path: string): Promise<string> {
    return (await this._requests.patch<IContents>(address(item.path), { path })).path;
  }
}

function address(path: string): string {
  return ['contents', ...(path ? [pathOf(...path.split('/'))] : [])].join('/');
}
