import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';

/** Which rows of a list are rendered, from `first` up to but not including `end`. */
export interface IWindow {
  first: number;
  end: number;
}

/** Rows rendered above and below the visible ones, so that a quick scroll shows no gap. */
const OVERSCAN = 8;

/** The tops of rows of equal height, in pixels, with headings above some of them. */
export interface IRowTops {
  /** The top of a row; for the number of rows, the height of all. */
  topOf: (index: number) => number;
  /** The height of a row's heading, 0 without one. */
  headOf: (index: number) => number;
}

/** Return the tops of rows; `heads` has the height of the heading above each row, 0 for none. */
export function rowTops(rowHeight: number, heads: readonly number[] = []): IRowTops {
  let height = 0;
  const above = heads.map(head => (height += head));
  return {
    topOf: index => index * rowHeight + (above[index] ?? height),
    headOf: index => heads[index] ?? 0
  };
}

/** Return the rows to render at a scroll position, in pixels. */
function visibleWindow(
  scrollTop: number,
  height: number,
  { topOf }: IRowTops,
  count: number
): IWindow {
  const first = Math.max(0, rowAt(scrollTop, topOf, count) - OVERSCAN);
  const end = Math.min(count, rowAt(scrollTop + height, topOf, count) + 1 + OVERSCAN);
  return { first, end: Math.max(first, end) };
}

/** Return the first row that ends below a position. */
function rowAt(position: number, topOf: (index: number) => number, count: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (topOf(middle + 1) <= position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** The visible part of a scrolled element with rows of equal height. */
export interface IRowsSeen extends IWindow {
  /** The number of fully visible rows, less one: the step of a page key. */
  page: number;
  /** For the element's `onScroll`. */
  onScroll: () => void;
  /** Scroll until a row is fully visible. */
  reveal: (index: number) => void;
}

/**
 * Return the rows of a scrolled element to render, updated as it is scrolled and resized.
 *
 * Rows of equal height need no measuring: `@tanstack/react-virtual`, which measures each, would add 10.6 kB (gzip) to
 * what every section loads.
 */
export function useRowsSeen(
  scroller: RefObject<HTMLElement>,
  rowHeight: number,
  count: number,
  tops: IRowTops = rowTops(rowHeight)
): IRowsSeen {
  const [scrollTop, setScrollTop] = useState(0);
  const [height, setHeight] = useState(0);

  const onScroll = useCallback(() => setScrollTop(scroller.current?.scrollTop ?? 0), [scroller]);

  useLayoutEffect(() => {
    const node = scroller.current;
    if (node === null) {
      return;
    }
    const measure = (): void => setHeight(node.clientHeight);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, [scroller]);

  // A list that becomes shorter or is hidden is scrolled by the browser, which may not tell.
  useLayoutEffect(onScroll, [onScroll, count, height]);

  const reveal = useCallback(
    (index: number) => {
      const node = scroller.current;
      if (node !== null) {
        node.scrollTop = scrolledTo(index, node.scrollTop, node.clientHeight, rowHeight, tops);
        setScrollTop(node.scrollTop);
      }
    },
    [scroller, rowHeight, tops]
  );
  return {
    ...visibleWindow(scrollTop, height, tops, count),
    page: Math.max(1, Math.floor(height / rowHeight) - 1),
    onScroll,
    reveal
  };
}

/** Return the scroll position at which a row is fully visible; `scrollTop` itself if it already is. */
function scrolledTo(
  index: number,
  scrollTop: number,
  height: number,
  rowHeight: number,
  tops: IRowTops
): number {
  const top = tops.topOf(index);
  if (top - tops.headOf(index) < scrollTop) {
    return top - tops.headOf(index);
  }
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

/** Return the row a key moves to from `index`; null when the key moves nothing. */
export function movedBy(key: string, index: number, count: number, page: number): number | null {
  const moves: Record<string, number> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: count - 1
  };
  const wanted = moves[key];
  return wanted === undefined || count === 0 ? null : Math.max(0, Math.min(count - 1, wanted));
}
