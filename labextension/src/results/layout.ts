import { type Format, type IColumn, isAlignedRight, isLines, type Row } from './values';

/** Height of a row, in pixels. */
export const ROW_HEIGHT = 24;
/** Room beside the text of a cell, and beside the name of a column: for the padding, and the sort and the menu. */
const CELL_ROOM = 22;
const HEAD_ROOM = 44;
const NARROWEST = 56;
const WIDEST = 320;
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

/** Return the width of each column in pixels, from its head and its first values. */
export function columnWidths(
  columns: readonly IColumn[],
  formats: readonly Format[],
  heads: readonly string[],
  rows: readonly Row[],
  widthOf: (text: string) => number
): number[] {
  const sample = rows.slice(0, MEASURED_ROWS);
  const widest = isLines(columns) ? Infinity : WIDEST;
  return columns.map(({ name }, column) => {
    const wanted = Math.max(
      widthOf(longestText(sample, column, formats[column])) + CELL_ROOM,
      widthOf(name) * 1.08 + HEAD_ROOM,
      widthOf(heads[column] ?? '') + CELL_ROOM
    );
    return Math.ceil(Math.min(widest, Math.max(NARROWEST, wanted)));
  });
}

/**
 * Return the widths with those of the given columns wider that have longer numbers, times or lines of a text in further
 * rows.
 */
export function widened(
  widths: readonly number[],
  cells: readonly IMeasured[],
  rows: readonly Row[],
  widthOf: (text: string) => number
): readonly number[] {
  const wider = [...widths];
  const areLines = isLines(cells.map(({ column }) => column));
  const widest = areLines ? Infinity : WIDEST;
  for (const { column, format } of cells) {
    if (areLines || isAlignedRight(column.type)) {
      const wanted = widthOf(longestText(rows, column.index, format)) + CELL_ROOM;
      const width = Math.ceil(Math.min(widest, wanted));
      wider[column.index] = Math.max(wider[column.index] ?? 0, width);
    }
  }
  return wider.every((width, column) => width === widths[column]) ? widths : wider;
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

/** Return the widths of columns that share the room they have. */
export function stretched(widths: readonly number[], room: number): number[] {
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
