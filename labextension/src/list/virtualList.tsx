import {
  type JSX,
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from 'react';
import { movedBy, rowTops, useRowsSeen } from './window';

/** A row's position in a tree. */
export interface IBranch {
  /** From 1. */
  level: number;
  /** Undefined for a leaf. */
  expanded?: boolean;
}

/** The content of a `VirtualList`, and its callbacks. */
export interface IVirtualListProps<T> {
  items: readonly T[];
  /** Unique and stable: the selected row stays selected when others are added. */
  keyOf: (item: T) => string;
  /** Renders the row, as text and icons. */
  render: (item: T) => ReactNode;
  /** Buttons at the row's end. */
  actions?: (item: T) => ReactNode;
  /** The list's label for screen readers. */
  label: string;
  /** Pixels; the same for every row. */
  rowHeight?: number;
  /** Returns the heading of a row's group: it stands above the first row of each group. */
  groupOf?: (item: T) => string;
  /** Enter, or a double click (a click with `activateOnClick`). */
  onActivate?: (item: T) => void;
  activateOnClick?: boolean;
  /** With `activateOnClick`: Enter, or the second click of a double click. */
  onKeep?: (item: T) => void;
  selectedKey?: string | null;
  onSelect?: (item: T) => void;
  /** Handles keys unknown to the list (F2, Delete …); return true if handled. */
  onKey?: (event: KeyboardEvent, item: T) => boolean;
  /** Called near the end of the loaded rows, to read the next page. */
  onNearEnd?: () => void;
  /** Makes the list a tree. */
  branch?: (item: T) => IBranch;
  onContextMenu?: (item: T) => void;
  /** Further attributes and event handlers of a row, such as `draggable` and `data-…`. */
  rowProps?: (item: T) => React.HTMLAttributes<HTMLDivElement>;
}

const ROW_HEIGHT = 28;
const HEADING_HEIGHT = 24;

/**
 * A list of any length that renders only its visible rows; a grid (or, with `branch`, a tree) for screen readers.
 *
 * Tab reaches one row; arrows, Page, Home and End move from it. Rows added or removed above do not move the visible
 * ones: the focused row stays rendered wherever it is.
 */
export function VirtualList<T>(props: IVirtualListProps<T>): JSX.Element {
  const { items, keyOf, rowHeight = ROW_HEIGHT, onNearEnd, groupOf } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [activeKey, setActiveKey] = useState<string | null>(null);
  const focusWanted = useRef(false);
  /** Whether the list had the keyboard focus last, even if the focused row is gone. */
  const wasFocused = useRef(false);

  const wantedKey = activeKey ?? props.selectedKey ?? null;
  const found = wantedKey === null ? -1 : items.findIndex(item => keyOf(item) === wantedKey);
  const activeIndex = found >= 0 ? found : 0;
  const headings = useMemo(() => headingsOf(items, groupOf), [items, groupOf]);
  const tops = useMemo(
    () =>
      rowTops(
        rowHeight,
        headings?.map(text => (text === '' ? 0 : HEADING_HEIGHT))
      ),
    [rowHeight, headings]
  );
  const height = tops.topOf(items.length);
  const { first, end, page, onScroll, reveal } = useRowsSeen(
    scroller,
    rowHeight,
    items.length,
    tops
  );

  useEffect(() => {
    if (onNearEnd !== undefined && items.length > 0 && end >= items.length) {
      onNearEnd();
    }
  }, [end, items.length, onNearEnd]);

  useLayoutEffect(() => {
    if (focusWanted.current) {
      focusWanted.current = false;
      scroller.current
        ?.querySelector<HTMLElement>('[role="row"][tabindex="0"]')
        ?.focus({ preventScroll: true });
    }
  });

  const { selectedKey = null } = props;
  useLayoutEffect(() => {
    // The keyboard continues at a row selected from elsewhere, which is scrolled into view. The effect above focuses it
    // once it is rendered as the reachable row.
    const node = scroller.current;
    const index = selectedKey === null ? -1 : items.findIndex(item => keyOf(item) === selectedKey);
    if (node !== null && index >= 0) {
      const isFocused =
        node.contains(document.activeElement) ||
        (wasFocused.current && document.activeElement === document.body);
      focusWanted.current = isFocused && activeKey !== selectedKey;
      setActiveKey(selectedKey);
      reveal(index);
    }
    // Only when it changes: other rows come and go without moving the visible ones.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [selectedKey]);

  const moveTo = useCallback(
    (index: number) => {
      const item = items[index];
      if (item === undefined) {
        return;
      }
      reveal(index);
      setActiveKey(keyOf(item));
      focusWanted.current = true;
      props.onSelect?.(item);
    },
    [items, keyOf, reveal, props]
  );

  const onKeyDown = (event: KeyboardEvent): void => {
    const item = items[activeIndex];
    const onRow = (event.target as HTMLElement).getAttribute('role') === 'row';
    if (item === undefined || !onRow) {
      return;
    }
    const next = movedBy(event.key, activeIndex, items.length, page);
    const isModified = event.ctrlKey || event.metaKey || event.altKey;
    if (isModified || next === null) {
      if (props.onKey?.(event, item) === true) {
        event.preventDefault();
        event.stopPropagation();
      } else if (event.key === 'Enter' && !isModified && !event.shiftKey) {
        event.preventDefault();
        (props.onKeep ?? props.onActivate)?.(item);
      }
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    moveTo(next);
  };

  const rendered: number[] = [];
  for (let index = first; index < end; index++) {
    rendered.push(index);
  }
  if (items.length > 0 && (activeIndex < first || activeIndex >= end)) {
    rendered.push(activeIndex);
  }
  return (
    <div
      ref={scroller}
      className="jp-SvcList"
      role={props.branch === undefined ? 'grid' : 'treegrid'}
      aria-label={props.label}
      aria-rowcount={items.length}
      style={{ height }}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onFocus={() => {
        wasFocused.current = true;
      }}
      onBlur={event => {
        wasFocused.current = event.relatedTarget === null;
      }}
    >
      <div className="jp-SvcList-space" role="presentation" style={{ height }}>
        {rendered.map(
          index =>
            headings?.[index] && (
              <div
                key={headings[index]}
                className="jp-SvcList-heading"
                aria-hidden="true"
                style={{ transform: `translateY(${tops.topOf(index) - HEADING_HEIGHT}px)` }}
              >
                {headings[index]}
              </div>
            )
        )}
        {rendered.map(index => {
          const item = items[index] as T;
          const key = keyOf(item);
          return (
            <Row
              key={key}
              item={item}
              index={index}
              rowHeight={rowHeight}
              top={tops.topOf(index)}
              isActive={index === activeIndex}
              isSelected={key === props.selectedKey}
              list={props}
              onFocus={() => setActiveKey(key)}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Return the heading above each row, empty for none; undefined without groups. */
function headingsOf<T>(
  items: readonly T[],
  groupOf: ((item: T) => string) | undefined
): string[] | undefined {
  if (groupOf === undefined) {
    return undefined;
  }
  let before = '';
  return items.map(item => {
    const group = groupOf(item);
    const heading = group === before ? '' : group;
    before = group;
    return heading;
  });
}

interface IRowProps<T> {
  item: T;
  index: number;
  rowHeight: number;
  top: number;
  isActive: boolean;
  isSelected: boolean;
  list: IVirtualListProps<T>;
  onFocus: () => void;
}

function Row<T>({
  item,
  index,
  rowHeight,
  top,
  isActive,
  isSelected,
  list,
  onFocus
}: IRowProps<T>): JSX.Element {
  const branch = list.branch?.(item);
  const activate = (): void => list.onActivate?.(item);
  return (
    <div
      {...list.rowProps?.(item)}
      className="jp-SvcList-row"
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      aria-level={branch?.level}
      aria-expanded={branch?.expanded}
      tabIndex={isActive ? 0 : -1}
      style={{ height: rowHeight, transform: `translateY(${top}px)` }}
      onFocus={onFocus}
      onClick={() => {
        list.onSelect?.(item);
        if (list.activateOnClick === true) {
          activate();
        }
      }}
      onDoubleClick={() => (list.activateOnClick === true ? list.onKeep?.(item) : activate())}
      onContextMenu={() => list.onContextMenu?.(item)}
    >
      <div className="jp-SvcList-cell" role="gridcell">
        {list.render(item)}
      </div>
      {list.actions !== undefined && (
        <div
          className="jp-SvcList-actions"
          role="gridcell"
          onClick={event => event.stopPropagation()}
          onDoubleClick={event => event.stopPropagation()}
        >
          {list.actions(item)}
        </div>
      )}
    </div>
  );
}
