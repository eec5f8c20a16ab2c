import { type Branches, type IRow, row } from './branches';
import { type IFound, type IItem, inOrder, keyOf, placeAt, type TreeName } from './items';

/**
 * Return the rows of what a search has found, each item in the folders that contain it.
 *
 * A found folder can be opened, and then shows all that is in it. The others are open for what was found in them.
 */
export function foundRows(branches: Branches, found: ReadonlyMap<TreeName, IFound>): IRow[] {
  const items = [...found.values()].flatMap(one => one.items);
  const known = new Set(items.map(keyOf));
  const contents = new Map<string, Map<string, IItem>>();
  for (const item of items) {
    let inner = item;
    while (inner.kind !== 'tree') {
      const outer = containerOf(inner, branches.trees);
      const siblings = contents.get(keyOf(outer)) ?? new Map<string, IItem>();
      contents.set(keyOf(outer), siblings.set(keyOf(inner), inner));
      inner = outer;
    }
  }
  const leftOut = (tree: IItem): string | null => found.get(tree.tree)?.leftOut ?? null;
  const rows: IRow[] = [];
  const add = (siblings: readonly IItem[], depth: number): void => {
    siblings.forEach((item, index) => {
      const key = keyOf(item);
      const below = contents.get(key);
      const isFound = known.has(key);
      const place = { place: index + 1, size: siblings.length };
      if (isFound && branches.branch(item)) {
        const [first, ...rest] = branches.rowsOf([item], depth);
        rows.push(...(first ? [{ ...first, ...place }] : []), ...rest);
        return;
      }
      const isOpen = below !== undefined;
      rows.push(row('item', item, depth, { isOpen, isFixed: isOpen && !isFound, ...place }));
      add(inOrder(below?.values() ?? []), depth + 1);
      const text = item.kind === 'tree' ? leftOut(item) : null;
      if (text !== null) {
        rows.push(row('cut', item, depth + 1, { text }));
      }
    });
  };
  add(
    branches.trees.filter(tree => contents.has(keyOf(tree)) || leftOut(tree) !== null),
    0
  );
  return rows;
}

function containerOf(item: IItem, trees: readonly IItem[]): IItem {
  if (!item.isRoot) {
    return placeAt(item.tree, item.parent);
  }
  const tree = trees.find(one => one.tree === item.tree);
  if (!tree) {
    throw new Error(`there is no tree ${item.tree}`);
  }
  return tree;
}
