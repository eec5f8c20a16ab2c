/**
 * Height in pixels up to which all browsers lay out an element: Firefox ends at 17.9 million, Chromium and Safari at
 * 33.5 million.
 */
const TALLEST = 15_000_000;

/** Return the height of the element that is scrolled, for rows of a height. */
export function spaceHeight(whole: number): number {
  return Math.min(whole, TALLEST);
}

/**
 * Maps the scroll position of an element to the position within rows that would be taller than any element can be.
 *
 * Up to `TALLEST` both are the same. Beyond, a small step scrolls by as many pixels of rows, so that a wheel or an arrow
 * misses no row, and a large one (the scrollbar) goes to the same part of the rows. Once the scroll rests, `settled`
 * gives the scroll position that corresponds to the rows again.
 */
export class RowScroll {
  private _scrollTop = 0;
  private _top = 0;

  /**
   * @param _whole - Height of all rows, in pixels.
   * @param _seen - Height of the part seen.
   */
  constructor(
    private _whole = 0,
    private _seen = 0
  ) {}

  /** The position within the rows, in pixels. */
  get top(): number {
    return this._top;
  }

  /** The scroll position of the element that was seen last. */
  get scrollTop(): number {
    return this._scrollTop;
  }

  /** Take other heights. */
  resize(whole: number, seen: number): void {
    this._whole = whole;
    this._seen = seen;
    this._top = Math.min(this._top, this._mostTop);
    this._scrollTop = Math.min(this._scrollTop, this._mostScrollTop);
  }

  /** The element was scrolled. */
  moved(scrollTop: number): void {
    const step = scrollTop - this._scrollTop;
    this._scrollTop = scrollTop;
    if (this._whole <= TALLEST) {
      this._top = scrollTop;
    } else if (scrollTop <= 0 || scrollTop >= this._mostScrollTop) {
      this._top = scrollTop <= 0 ? 0 : this._mostTop;
    } else if (Math.abs(step) < this._seen) {
      this._top = Math.max(0, Math.min(this._mostTop, this._top + step));
    } else {
      this._top = (scrollTop / this._mostScrollTop) * this._mostTop;
    }
  }

  /** Go to a position within the rows; return the scroll position to give to the element. */
  goTo(top: number): number {
    this._top = Math.max(0, Math.min(this._mostTop, top));
    return this.settled();
  }

  /** Return the scroll position that corresponds to the rows seen. */
  settled(): number {
    const share = this._mostTop === 0 ? 0 : this._top / this._mostTop;
    this._scrollTop = this._whole <= TALLEST ? this._top : Math.round(share * this._mostScrollTop);
    return this._scrollTop;
  }

  private get _mostTop(): number {
    return Math.max(0, this._whole - this._seen);
  }

  private get _mostScrollTop(): number {
    return Math.max(0, spaceHeight(this._whole) - this._seen);
  }
}

/** Return the left edges of columns of these widths, and at the end the right edge of the last. */
export function edges(widths: readonly number[]): number[] {
  const found = [0];
  widths.forEach((width, column) => found.push((found[column] ?? 0) + width));
  return found;
}

/** Return the columns between two positions: the first, and the one after the last. */
export function columnsBetween(
  lefts: readonly number[],
  from: number,
  to: number
): readonly [number, number] {
  const count = lefts.length - 1;
  let first = 0;
  while (first < count - 1 && (lefts[first + 1] ?? 0) <= from) {
    first++;
  }
  let end = first;
  while (end < count && (lefts[end] ?? 0) < to) {
    end++;
  }
  return [first, end];
}
