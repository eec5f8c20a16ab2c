import type { ITreeRow } from '../list';
import type { IDataItem } from './items';

/** What is below an open item. */
export interface IBranch {
  items: readonly IDataItem[];
  isLoading: boolean;
  /** Whether the service reads the database for the first time. */
  isFilling: boolean;
  /** Why it could not be read. */
  problem: string | null;
  /** Why `items` could not be read again since. */
  outdated: string | null;
  /** Whether the service does not tell it. */
  isUntold: boolean;
}

/** The branch of an item that is read for the first time. */
export const LOADING: IBranch = {
  items: [],
  isLoading: true,
  isFilling: false,
  problem: null,
  outdated: null,
  isUntold: false
};

/** An item, or a message below an open one. */
export interface IDataRow extends ITreeRow {
  kind: 'item' | 'loading' | 'filling' | 'problem' | 'outdated' | 'untold' | 'empty';
  item: IDataItem;
  /** The error of the rows `problem` and `outdated`. */
  text: string;
  /** Whether the schema stands before the name, since it is not above. */
  isFound: boolean;
}

/** Return the rows of the open items from top to bottom. */
export function treeRows(
  sources: readonly IDataItem[],
  open: ReadonlyMap<string, IBranch>
): IDataRow[] {
  const rows: IDataRow[] = [];
  const add = (items: readonly IDataItem[], depth: number): void => {
    for (const item of items) {
      const branch = open.get(item.key);
      rows.push(row('item', item, depth, { isOpen: branch !== undefined }));
      if (branch) {
        const message = messageOf(item, branch, depth + 1);
        rows.push(...(message ? [message] : []));
        add(branch.items, depth + 1);
      }
    }
  };
  add(sources, 0);
  return rows;
}

/** What a search has found in a source. */
export interface IFoundSource {
  source: IDataItem;
  tables: readonly { table: IDataItem; columns: readonly IDataItem[] }[];
}

/** Return the rows of what a search has found. */
export function foundRows(found: readonly IFoundSource[]): IDataRow[] {
  const shown = { isFound: true, isFixed: true };
  return found.flatMap(({ source, tables }) => [
    row('item', source, 0, { ...shown, isOpen: tables.length > 0 }),
    ...tables.flatMap(({ table, columns }) => [
      row('item', table, 1, { ...shown, isOpen: columns.length > 0 }),
      ...columns.map(column => row('item', column, 2, shown))
    ])
  ]);
}

function messageOf(item: IDataItem, branch: IBranch, depth: number): IDataRow | null {
  if (branch.problem !== null) {
    return row('problem', item, depth, { text: branch.problem });
  }
  if (branch.items.length > 0) {
    return branch.outdated === null
      ? null
      : row('outdated', item, depth, { text: branch.outdated });
  }
  if (branch.isLoading) {
    return row(branch.isFilling ? 'filling' : 'loading', item, depth);
  }
  return row(branch.isUntold ? 'untold' : 'empty', item, depth);
}

function row(
  kind: IDataRow['kind'],
  item: IDataItem,
  depth: number,
  more: Partial<IDataRow> = {}
): IDataRow {
  const key = `${item.key}#${kind}`;
  return {
    kind,
    key,
    item,
    depth,
    isOpen: false,
    isFixed: false,
    text: '',
    isFound: false,
    ...more
  };
}
