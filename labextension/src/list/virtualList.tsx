import {
  type JSX,
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState
} from 'react';
import { movedBy, scrolledTo, visibleWindow } from './window';

/** What a row of a tree is. */
export interface IBranch {
  /** From 1. */
  level: number;
  /** Undefined for a leaf. */
  expanded?: boolean;
}

/** What a `VirtualList` shows, and whom it tells. */
export interface IVirtualListProps<T> {
  items: readonly T[];
  /** Unique and lasting: the selected row stays the selected one when others come. */
  keyOf: (item: T) => string;
  /** The row, as text and icons. */
  render: (item: T) => ReactNode;
  /** Buttons at the row's end. */
  actions?: (item: T) => ReactNode;
  /** What a screen reader says of the list. */
  label: string;
  /** Pixels; every row has the same. */
  rowHeight?: number;
  /** Enter, or a double click (a click with `activateOnClick`). */
  onActivate?: (item: T) => void;
  activateOnClick?: boolean;
  selectedKey?: string | null;
  onSelect?: (item: T) => void;
  /** Keys the list itself does not know (F2, Delete …); return true when it was for you. */
  onKey?: (event: KeyboardEvent, item: T) => boolean;
  /** Near the end of what there is: read the next page. */
  onNearEnd?: () => void;
  /** Makes the list a tree. */
  branch?: (item: T) => IBranch;
  onContextMenu?: (item: T) => void;
  /** Further attributes of a row, such as `draggable` and `data-…`, and what it hears. */
  rowProps?: (item: T) => React.HTMLAttributes<HTMLDivElement>;
}

const ROW_HEIGHT = 28;

/**
 * A list of any length of which only what is seen is in the page; a grid (or, with `branch`, a tree) to a screen reader.
 *
 * One row at a time can be reached by Tab; arrows, Page, Home and End move on from it. Rows above that come or go do not
 * move what is looked at: the row that is focused stays rendered wherever it is.
 */
export function VirtualList<T>(props: IVirtualListProps<T>): JSX.Element {
  const { items, keyOf, rowHeight = ROW_HEIGHT, onNearEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [height, setHeight] = useState(0);
  const [activeKey, setActiveKey] = useState<string | null>(null);
  const focusWanted = useRef(false);
  /** Whether the keyboard was here last; also when the row it was at has gone since. */
  const wasFocused = useRef(false);

  useLayoutEffect(() => {
    const node = scroller.current;
    if (node === null) {
      return;
    }
    setHeight(node.clientHeight);
    const observer = new ResizeObserver(() => setHeight(node.clientHeight));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);

  const wantedKey = activeKey ?? props.selectedKey ?? null;
  const found = wantedKey === null ? -1 : items.findIndex(item => keyOf(item) === wantedKey);
  const activeIndex = found >= 0 ? found : 0;
  const { first, end } = visibleWindow(scrollTop, height, rowHeight, items.length);

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
    // What is selected from elsewhere is where the keyboard goes on, and is seen. The effect above then focuses it, when
    // it has been rendered as the row that can be reached.
    const node = scroller.current;
    const index = selectedKey === null ? -1 : items.findIndex(item => keyOf(item) === selectedKey);
    if (node !== null && index >= 0) {
      const isFocused =
        node.contains(document.activeElement) ||
        (wasFocused.current && document.activeElement === document.body);
      focusWanted.current = isFocused && activeKey !== selectedKey;
      setActiveKey(selectedKey);
      node.scrollTop = scrolledTo(index, node.scrollTop, node.clientHeight, rowHeight);
      setScrollTop(node.scrollTop);
    }
    // Only when it changes: the rows around it come and go without moving what is looked at.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [selectedKey]);

  const moveTo = useCallback(
    (index: number) => {
      const item = items[index];
      const node = scroller.current;
      if (item === undefined || node === null) {
        return;
      }
      node.scrollTop = scrolledTo(index, node.scrollTop, node.clientHeight, rowHeight);
      setScrollTop(node.scrollTop);
      setActiveKey(keyOf(item));
      focusWanted.current = true;
      props.onSelect?.(item);
    },
    [items, keyOf, rowHeight, props]
  );

  const onKeyDown = (event: KeyboardEvent): void => {
    const item = items[activeIndex];
    const onRow = (event.target as HTMLElement).getAttribute('role') === 'row';
    if (item === undefined || !onRow) {
      return;
    }
    const next = movedBy(
      event.key,
      activeIndex,
      items.length,
      Math.max(1, Math.floor(height / rowHeight) - 1)
    );
    if (event.ctrlKey || event.metaKey || event.altKey || next === null) {
      if (props.onKey?.(event, item) === true) {
        event.preventDefault();
        event.stopPropagation();
      } else if (event.key === 'Enter') {
        event.preventDefault();
        props.onActivate?.(item);
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
      onScroll={event => setScrollTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
      onFocus={() => {
        wasFocused.current = true;
      }}
      onBlur={event => {
        wasFocused.current = event.relatedTarget === null;
      }}
    >
      <div
        className="jp-SvcList-space"
        role="presentation"
        style={{ height: items.length * rowHeight }}
      >
        {rendered.map(index => {
          const item = items[index] as T;
          const key = keyOf(item);
          return (
            <Row
              key={key}
              item={item}
              index={index}
              rowHeight={rowHeight}
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

interface IRowProps<T> {
  item: T;
  index: number;
  rowHeight: number;
  isActive: boolean;
  isSelected: boolean;
  list: IVirtualListProps<T>;
  onFocus: () => void;
}

function Row<T>({
  item,
  index,
  rowHeight,
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
      style={{ height: rowHeight, transform: `translateY(${index * rowHeight}px)` }}
      onFocus={onFocus}
      onClick={() => {
        list.onSelect?.(item);
        if (list.activateOnClick === true) {
          activate();
        }
      }}
      onDoubleClick={list.activateOnClick === true ? undefined : activate}
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
