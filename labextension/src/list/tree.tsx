import type { LabIcon } from '@jupyterlab/ui-components';
import type { JSX, ReactNode } from 'react';
import { type IVirtualListProps, VirtualList } from './virtualList';

/** A row of a tree: an item, or a message about an open one (of any other kind). `depth` counts from 0. */
export interface ITreeRow {
  kind: string;
  key: string;
  depth: number;
  isOpen: boolean;
  /** Whether it is open for what a search has found in it, and cannot be closed. */
  isFixed: boolean;
}

type ListProps<R> = Omit<IVirtualListProps<R>, 'items' | 'keyOf' | 'branch' | 'onKey'>;

/** The content of a `TreeList`, and its callbacks. */
export interface ITreeListProps<R extends ITreeRow> extends ListProps<R> {
  rows: readonly R[];
  /** Whether there can be rows below an item. */
  opens: (row: R) => boolean;
  /** Open or close an item. */
  toggle: (row: R) => void;
  onSelect: (row: R) => void;
}

/** A tree as a virtual list: Right opens, then enters; Left closes, then leaves. */
export function TreeList<R extends ITreeRow>(props: ITreeListProps<R>): JSX.Element {
  const { rows, opens, ...list } = props;
  return (
    <VirtualList
      {...list}
      items={rows}
      keyOf={row => row.key}
      branch={row => ({
        level: row.depth + 1,
        ...(row.kind === 'item' && opens(row) && { expanded: row.isOpen })
      })}
      onKey={(event, row) => movesThroughTree(event, row, props)}
    />
  );
}

/** Perform a key of a tree. Returns whether it was handled. */
export function movesThroughTree<R extends ITreeRow>(
  event: Pick<KeyboardEvent, 'key'>,
  row: R,
  tree: Pick<ITreeListProps<R>, 'rows' | 'opens' | 'toggle' | 'onSelect'>
): boolean {
  const { rows, opens, toggle, onSelect } = tree;
  const index = rows.findIndex(one => one.key === row.key);
  if (event.key === 'ArrowRight') {
    const next = rows[index + 1];
    if (row.kind === 'item' && opens(row) && !row.isOpen) {
      toggle(row);
    } else if (next?.kind === 'item' && next.depth > row.depth) {
      onSelect(next);
    }
    return true;
  }
  if (event.key === 'ArrowLeft') {
    const parent = rows
      .slice(0, index)
      .reverse()
      .find(one => one.kind === 'item' && one.depth < row.depth);
    if (row.kind === 'item' && row.isOpen && !row.isFixed) {
      toggle(row);
    } else if (parent) {
      onSelect(parent);
    }
    return true;
  }
  return false;
}

/** The line of a row, indented by its depth. */
export function TreeLine(props: {
  depth: number;
  name: string;
  /** The whole of it for the pointer, where the name may be cut. */
  hover: string;
  icon?: LabIcon | null;
  /** The mark of an item that opens; null for others. */
  isOpen?: boolean | null;
  toggle?: () => void;
  isMuted?: boolean;
  /** Facts after the name, never cut before it. */
  children?: ReactNode;
}): JSX.Element {
  const { depth, name, hover, icon, isOpen = null, toggle, isMuted = false, children } = props;
  return (
    <span
      className={`jp-SvcTree-line ${isMuted ? 'jp-SvcMuted' : ''}`}
      style={{ paddingLeft: depth * 12 }}
    >
      <span
        className="jp-SvcTree-twisty"
        aria-hidden="true"
        onClick={toggle}
        onDoubleClick={event => event.stopPropagation()}
      >
        {isOpen === null ? '' : isOpen ? '▾' : '▸'}
      </span>
      {icon && <icon.react tag="span" aria-hidden="true" />}
      <span className="jp-SvcTree-name" title={hover}>
        {name}
      </span>
      {children}
    </span>
  );
}
