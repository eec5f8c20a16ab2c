/** Which rows of a list are rendered, from `first` up to but not including `end`. */
export interface IWindow {
  first: number;
  end: number;
}

/** Rows rendered above and below what is seen, so that a quick scroll shows no gap. */
export const OVERSCAN = 8;

/** Return the rows to render for a place of scrolling; pixels. */
export function visibleWindow(
  scrollTop: number,
  height: number,
  rowHeight: number,
  count: number
): IWindow {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight)) - OVERSCAN);
  const end = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN);
  return { first, end: Math.max(first, end) };
}

/** Return where to scroll so that a row is seen whole; `scrollTop` itself where it is. */
export function scrolledTo(
  index: number,
  scrollTop: number,
  height: number,
  rowHeight: number
): number {
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
