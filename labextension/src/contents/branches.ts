import { holds, type IItem, isPlace, keyOf, type TreeName } from './items';

/** What has been fetched of an open item. */
export interface IBranch {
  items: readonly IItem[];
  /** The page to ask for next; null when that is all. */
  nextPage: number | null;
  /** What the service said when it could not be read. */
  problem: string | null;
  isLoading: boolean;
}

/** An item, or of an open one: that nothing is in it, that there is more, that it is being read, or why it cannot be. */
export type RowKind = 'item' | 'empty' | 'more' | 'loading' | 'problem';

/** One line of the view. `depth` counts from 0; `place` and `size` tell where it stands among its neighbours, from 1. */
export interface IRow {
  kind: RowKind;
  key: string;
  item: IItem;
  depth: number;
  isOpen: boolean;
  place: number;
  size: number;
  /** Of a row `problem`, what the service said. */
  text: string;
}

/** The branch of an item that is being read for the first time. */
export const LOADING: IBranch = {
  items: [],
  nextPage: null,
  problem: null,
  isLoading: true
};

/** The open branches by the keys of their items. It never changes; the methods return the next one. */
export class Branches {
  constructor(
    readonly trees: readonly IItem[],
    readonly open: ReadonlyMap<string, IBranch> = new Map()
  ) {}

  /** Return the branches with one more open, or fetched anew. */
  with(item: IItem, branch: IBranch): Branches {
    return new Branches(this.trees, new Map(this.open).set(keyOf(item), branch));
  }

  /** Return the branches without what an item showed. */
  without(item: IItem): Branches {
    const open = new Map(this.open);
    open.delete(keyOf(item));
    return new Branches(this.trees, open);
  }

  /** Return the branches with what a person has opened and closed between two states. */
  after(before: ReadonlyMap<string, IBranch>, now: ReadonlyMap<string, IBranch>): Branches {
    const opened = [...now].filter(([key]) => !before.has(key) && !this.open.has(key));
    const open = [...this.open].filter(([key]) => now.has(key) || !before.has(key));
    return new Branches(this.trees, new Map([...open, ...opened]));
  }

  /** Return what is open of an item. */
  branch(item: IItem): IBranch | undefined {
    return this.open.get(keyOf(item));
  }

  /** Return the lines from top to bottom; with `placesOnly` those of folders. */
  rows(placesOnly = false): IRow[] {
    const rows: IRow[] = [];
    const add = (items: readonly IItem[], depth: number): void => {
      const shown = placesOnly
        ? items.filter(item => item.kind === 'tree' || isPlace(item))
        : items;
      shown.forEach((item, index) => {
        const branch = this.branch(item);
        const isOpen = branch !== undefined;
        const place = { place: index + 1, size: shown.length };
        rows.push(row('item', item, depth, { isOpen, ...place }));
        if (branch) {
          add(branch.items, depth + 1);
          rows.push(...endOf(item, branch, depth + 1));
        }
      });
    };
    add(this.trees, 0);
    return rows;
  }

  /** Return an item that is shown, by its key. */
  find(key: string): IItem | null {
    return this._items().find(item => keyOf(item) === key) ?? null;
  }

  /** Return the folder or directory at a path, where it is shown. */
  at(tree: TreeName, path: string): IItem | null {
    const found = this._items().find(
      item => isPlace(item) && item.tree === tree && item.path === path
    );
    return found ?? null;
  }

  private _items(): IItem[] {
    return this.rows()
      .filter(one => one.kind === 'item')
      .map(one => one.item);
  }
}

/** Return the keys of open items as they are after an item was moved or renamed: what was open below it stays so. */
export function rebased(keys: Iterable<string>, item: IItem, path: string): Set<string> {
  const kind = isPlace(item) ? item.kind : '';
  const start = `${item.tree}:${kind}:`;
  return new Set(
    [...keys].map(key => {
      const own = key.slice(start.length);
      return key.startsWith(start) && holds(item, own)
        ? `${start}${path}${own.slice(item.path.length)}`
        : key;
    })
  );
}

function endOf(item: IItem, branch: IBranch, depth: number): IRow[] {
  if (branch.problem !== null) {
    return [row('problem', item, depth, { text: branch.problem })];
  }
  if (branch.isLoading) {
    return branch.items.length ? [] : [row('loading', item, depth)];
  }
  if (branch.nextPage !== null) {
    return [row('more', item, depth)];
  }
  return branch.items.length ? [] : [row('empty', item, depth)];
}

function row(kind: RowKind, item: IItem, depth: number, more: Partial<IRow> = {}): IRow {
  const rest = { isOpen: false, place: 1, size: 1, text: '' };
  return { kind, key: `${keyOf(item)}#${kind}`, item, depth, ...rest, ...more };
}
