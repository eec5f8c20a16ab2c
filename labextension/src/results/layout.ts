import { type Format, type IColumn, isAlignedRight, isLines, type Row } from './values';

/** Height of a row, in pixels. */
export const ROW_HEIGHT = 24;
/** Room beside the text of a cell, and beside the name of a column: for the padding, and the sort and the menu. */
const CELL_ROOM = 22;
const HEAD_ROOM = 44;
/** Widths of a column: the narrowest, the widest for a name and for texts, and the narrowest by hand. */
const NARROWEST = 56;
const WIDEST = 320;
const NARROWEST_BY_HAND = 40;
/** Share of a narrow box that a name or a text takes: the next column shows that there are more. */
const TEXT_SHARE = 0.8;
/** A column is stretched up to so many times its width where there is room. */
const STRETCH = 2.2;
const MEASURED_ROWS = 50;
/** Width of a character where texts cannot be measured. */
const CHARACTER = 7;

/** A column of the result, by its index, and how its values are written. */
export interface IMeasured {
  readonly column: IColumn & { readonly index: number };
  readonly format: Format;
}

/** The pixels that the columns of a result need. */
export interface INeeds {
  /** For the name and the type of each. */
  readonly heads: readonly number[];
  /** For the values of each: the first ones and, but of texts, those seen since. */
  readonly values: readonly number[];
}

/** Return what the columns of a result need for their heads and their first values. */
export function needsOf(
  columns: readonly IColumn[],
  formats: readonly Format[],
  heads: readonly string[],
  rows: readonly Row[],
  widthOf: (text: string) => number
): INeeds {
  const sample = rows.slice(0, MEASURED_ROWS);
  return {
    heads: columns.map(({ name }, column) =>
      Math.ceil(
        Math.max(widthOf(name) * 1.08 + HEAD_ROOM, widthOf(heads[column] ?? '') + CELL_ROOM)
      )
    ),
    values: columns.map((_, column) => valuesWidth(sample, column, formats[column], widthOf))
  };
}

/** Return the needs with those of the given columns larger that have longer numbers, times or lines of a text. */
export function enlarged(
  needs: INeeds,
  cells: readonly IMeasured[],
  rows: readonly Row[],
  widthOf: (text: string) => number
): INeeds {
  const values = [...needs.values];
  const areLines = isLines(cells.map(({ column }) => column));
  for (const { column, format } of cells) {
    if (areLines || isAlignedRight(column.type)) {
      const wanted = valuesWidth(rows, column.index, format, widthOf);
      values[column.index] = Math.max(values[column.index] ?? 0, wanted);
    }
  }
  const isSame = values.every((width, column) => width === needs.values[column]);
  return isSame ? needs : { ...needs, values };
}

/**
 * Return the widths of columns that share the room they have, but for those that were set by hand. A column of numbers
 * or times is never narrower than its values: a number that is cut reads as another one.
 */
export function columnWidths(
  columns: readonly IMeasured['column'][],
  needs: INeeds,
  byHand: ReadonlyMap<string, number>,
  room: number
): number[] {
  const widest = room > 0 ? Math.min(WIDEST, room * TEXT_SHARE) : WIDEST;
  const areLines = isLines(columns);
  const natural = columns.map(({ index, type }) => {
    const values = needs.values[index] ?? 0;
    const least = areLines || isAlignedRight(type) ? values : 0;
    const wanted = Math.max(needs.heads[index] ?? 0, values);
    return Math.max(NARROWEST, least, Math.min(widest, wanted));
  });
  const shared = stretched(natural, room);
  return columns.map(({ name, index, type }, position) => {
    const least = isAlignedRight(type) ? (needs.values[index] ?? 0) : 0;
    const set = byHand.get(name);
    return set === undefined ? (shared[position] ?? 0) : Math.max(NARROWEST_BY_HAND, least, set);
  });
}

/** Return the width in which a column shows its head and its values in these rows whole. */
export function fittingWidth(
  { column, format }: IMeasured,
  needs: INeeds,
  rows: readonly Row[],
  widthOf: (text: string) => number
): number {
  const values = rows.map(row => widthOf(format(row[column.index] ?? null)));
  return Math.max(needs.heads[column.index] ?? 0, Math.ceil(Math.max(0, ...values)) + CELL_ROOM);
}

/** Return the width of the longest value of a column in these rows. */
function valuesWidth(
  rows: readonly Row[],
  column: number,
  format: Format | undefined,
  widthOf: (text: string) => number
): number {
  return Math.ceil(widthOf(longestText(rows, column, format)) + CELL_ROOM);
}

/** Return the longest text of a column; of proportional letters it is the widest but for a few pixels. */
function longestText(rows: readonly Row[], column: number, format: Format | undefined): string {
  let longest = '';
  for (const row of rows) {
    const text = format?.(row[column] ?? null) ?? '';
    longest = text.length > longest.length ? text : longest;
  }
  return longest;
}

function stretched(widths: readonly number[], room: number): number[] {
  const whole = widths.reduce((sum, width) => sum + width, 0);
  const share = whole === 0 ? 1 : Math.max(1, Math.min(STRETCH, room / whole));
  return widths.map(width => Math.floor(width * share));
}

/** Return what measures texts in the font of an element. */
export function textMeasure(element: Element): (text: string) => number {
  const { fontSize, fontFamily } = getComputedStyle(element);
  const context = document.createElement('canvas').getContext('2d');
  if (context === null) {
    return text => text.length * CHARACTER;
  }
  context.font = `${fontSize} ${fontFamily}`;
  return text => context.measureText(text).width;
}
