import { type Row, wholeText } from './values';

/** A cell; row -1 is the head. */
export interface IPosition {
  readonly row: number;
  readonly column: number;
}

/** A rectangle of cells, from the one where it began to the one of the keyboard. */
export interface ISelection {
  readonly anchor: IPosition;
  readonly active: IPosition;
}

/** The edges of a selection, all included. */
export interface IArea {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Return the cells of a selection. */
export function areaOf({ anchor, active }: ISelection): IArea {
  return {
    top: Math.max(0, Math.min(anchor.row, active.row)),
    bottom: Math.max(anchor.row, active.row),
    left: Math.min(anchor.column, active.column),
    right: Math.max(anchor.column, active.column)
  };
}

/** Return where a key moves to from a cell; null when the key moves nothing. */
export function movedTo(
  event: { key: string; ctrlKey: boolean; metaKey: boolean },
  from: IPosition,
  rows: number,
  columns: number,
  page: number
): IPosition | null {
  const isFar = event.ctrlKey || event.metaKey;
  const { row, column } = from;
  const moves: Record<string, IPosition> = {
    ArrowDown: { row: isFar ? rows - 1 : row + 1, column },
    ArrowUp: { row: isFar ? 0 : row - 1, column },
    ArrowLeft: { row, column: isFar ? 0 : column - 1 },
    ArrowRight: { row, column: isFar ? columns - 1 : column + 1 },
    PageDown: { row: row + page, column },
    PageUp: { row: row - page, column },
    Home: { row: isFar ? 0 : row, column: 0 },
    End: { row: isFar ? rows - 1 : row, column: columns - 1 }
  };
  const wanted = moves[event.key];
  return wanted === undefined
    ? null
    : {
        row: Math.max(
          event.key === 'ArrowUp' ? -1 : Math.min(0, row),
          Math.min(rows - 1, wanted.row)
        ),
        column: Math.max(0, Math.min(columns - 1, wanted.column))
      };
}

/** Return rows as text that spreadsheets and pandas read: separated by tabs, quoted where needed. */
export function tabSeparated(
  head: readonly string[] | null,
  rows: readonly (Row | undefined)[],
  columns: readonly number[]
): string {
  const lines = rows.map(row =>
    columns.map(column => quoted(wholeText(row?.[column] ?? null))).join('\t')
  );
  return [...(head === null ? [] : [head.map(quoted).join('\t')]), ...lines].join('\n');
}

function quoted(text: string): string {
  return /["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
