import { holds, type IItem, isPlace, keyOf, type TreeName } from './items';

/** The fetched items of an open item. */
export interface IBranch {
  items: readonly IItem[];
  /** The next page to fetch; null after the last one. */
  nextPage: number | null;
  /** The service's error when it could not be read. */
  problem: string | null;
  isLoading: boolean;
}

/**
 * An item, or below an open item: that it is empty, that there is more, that it is being read, or an error; `cut` below
 * a tree of which a search has not listed all.
 */
export type RowKind = 'item' | 'empty' | 'more' | 'loading' | 'problem' | 'cut';

/** One row of the view. `depth` counts from 0; `place` and `size` give its position among its siblings, from 1. */
export interface IRow {
  kind: RowKind;
  key: string;
  item: IItem;
  depth: number;
  isOpen: boolean;
  /** Whether it is open for what a search has found in it, and cannot be closed. */
  isFixed: boolean;
  place: number;
  size: number;
  /** The error of a row `problem`. */
  text: string;
}

/** The branch of an item that is read for the first time. */
export const LOADING: IBranch = {
  items: [],
  nextPage: null,
  problem: null,
  isLoading: true
};

/** The open branches, keyed by their items. Immutable; the methods return a new value. */
export class Branches {
  constructor(
    readonly trees: readonly IItem[],
    readonly open: ReadonlyMap<string, IBranch> = new Map()
  ) {}

  /** Return the branches with one more open, or replaced. */
  with(item: IItem, branch: IBranch): Branches {
    return new Branches(this.trees, new Map(this.open).set(keyOf(item), branch));
  }

  /** Return the branches without those of an item. */
  without(item: IItem): Branches {
    const open = new Map(this.open);
    open.delete(keyOf(item));
    return new Branches(this.trees, open);
  }

  /** Return the branches with the user's changes between two states applied. */
  after(before: ReadonlyMap<string, IBranch>, now: ReadonlyMap<string, IBranch>): Branches {
    const opened = [...now].filter(([key]) => !before.has(key) && !this.open.has(key));
    const open = [...this.open].filter(([key]) => now.has(key) || !before.has(key));
    return new Branches(this.trees, new Map([...open, ...opened]));
  }

  /** Return the branch of an item, if it is open. */
  branch(item: IItem): IBranch | undefined {
    return this.open.get(keyOf(item));
  }

  /** Return the rows from top to bottom; with `placesOnly`, those of folders. */
  rows(placesOnly = false): IRow[] {
    return this.rowsOf(this.trees, 0, placesOnly);
  }

  /** Return the rows of items, and of what is below those that are open. */
  rowsOf(siblings: readonly IItem[], start: number, placesOnly = false): IRow[] {
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
    add(siblings, start);
    return rows;
  }

  /** Return the items of a tree that were read and have a text in their name, or as their id. */
  found(tree: TreeName, text: string): IItem[] {
    return this._items().filter(
      item =>
        item.tree === tree &&
        !item.isRoot &&
        (item.name.toLowerCase().includes(text) || String(item.id ?? '') === text)
    );
  }

  /** Return the folder or directory at a path, or null when it is not visible. */
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

/** Return the keys of open items after an item was moved or renamed; open items below it stay open. */
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

/** Return a row; what is not given is that of a closed item without siblings. */
export function row(kind: RowKind, item: IItem, depth: number, more: Partial<IRow> = {}): IRow {
  const rest = { isOpen: false, isFixed: false, place: 1, size: 1, text: '' };
  return { kind, key: `${keyOf(item)}#${kind}`, item, depth, ...rest, ...more };
}
