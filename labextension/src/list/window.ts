import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';

/** Which rows of a list are rendered, from `first` up to but not including `end`. */
export interface IWindow {
  first: number;
  end: number;
}

/** Rows rendered above and below the visible ones, so that a quick scroll shows no gap. */
const OVERSCAN = 8;

/** Return the rows to render at a scroll position, in pixels. */
function visibleWindow(
  scrollTop: number,
  height: number,
  rowHeight: number,
  count: number
): IWindow {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight)) - OVERSCAN);
  const end = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN);
  return { first, end: Math.max(first, end) };
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
  count: number
): IRowsSeen {
  const [scrollTop, setScrollTop] = useState(0);
  const [height, setHeight] = useState(0);

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

  const onScroll = useCallback(() => setScrollTop(scroller.current?.scrollTop ?? 0), [scroller]);
  const reveal = useCallback(
    (index: number) => {
      const node = scroller.current;
      if (node !== null) {
        node.scrollTop = scrolledTo(index, node.scrollTop, node.clientHeight, rowHeight);
        setScrollTop(node.scrollTop);
      }
    },
    [scroller, rowHeight]
  );
  return {
    ...visibleWindow(scrollTop, height, rowHeight, count),
    page: Math.max(1, Math.floor(height / rowHeight) - 1),
    onScroll,
    reveal
  };
}

/** Return the scroll position at which a row is fully visible; `scrollTop` itself if it already is. */
function scrolledTo(index: number, scrollTop: number, height: number, rowHeight: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) {
    return top;
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
