import { type JSX, useMemo, useRef } from 'react';
import { useRowsSeen } from '../list/window';
import type { IResultRows } from './rows';

const ROW_HEIGHT = 24;
/** Number of rows that determine a column's width. */
const MEASURED_ROWS = 50;
const WIDEST = 40;

/** Rows of a result; only visible rows are in the page. */
export function ResultGrid(props: { table: IResultRows; label: string }): JSX.Element {
  const { columns, rows } = props.table;
  const scroller = useRef<HTMLDivElement>(null);
  const template = useMemo(
    () =>
      columnWidths(columns, rows)
        .map(width => `${width + 2}ch`)
        .join(' '),
    [columns, rows]
  );

  const isNumber = useMemo(() => numberColumns(columns, rows), [columns, rows]);
  const alignment = (column: number): string => (isNumber[column] === true ? 'jp-mod-number' : '');

  const { first, end, onScroll } = useRowsSeen(scroller, ROW_HEIGHT, rows.length);
  return (
    <div
      ref={scroller}
      className="jp-SvcGrid"
      role="table"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      onScroll={onScroll}
    >
      <div
        className="jp-SvcGrid-head"
        role="row"
        aria-rowindex={1}
        style={{ gridTemplateColumns: template }}
      >
        {columns.map((name, column) => (
          <span key={column} role="columnheader" className={alignment(column)} title={name}>
            {name}
          </span>
        ))}
      </div>
      <div
        className="jp-SvcGrid-space"
        role="rowgroup"
        style={{ height: rows.length * ROW_HEIGHT }}
      >
        {rows.slice(first, end).map((row, offset) => (
          <div
            key={first + offset}
            className="jp-SvcGrid-row"
            role="row"
            aria-rowindex={first + offset + 2}
            style={{
              gridTemplateColumns: template,
              transform: `translateY(${(first + offset) * ROW_HEIGHT}px)`
            }}
          >
            {row.map((text, column) => (
              <span key={column} role="cell" className={alignment(column)} title={text}>
                {text}
              </span>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Return each column's width in characters, from its name and its first values. */
export function columnWidths(columns: readonly string[], rows: readonly string[][]): number[] {
  return columns.map((name, column) => {
    const lengths = rows.slice(0, MEASURED_ROWS).map(row => row[column]?.length ?? 0);
    return Math.min(WIDEST, Math.max(name.length, 3, ...lengths));
  });
}

/** Return for each column whether its first values are numbers, which are aligned right. */
export function numberColumns(columns: readonly string[], rows: readonly string[][]): boolean[] {
  return columns.map((_, column) => {
    const values = rows.slice(0, MEASURED_ROWS).map(row => row[column] ?? '');
    const given = values.filter(value => value !== '');
    return given.length > 0 && given.every(value => Number.isFinite(Number(value)));
  });
}
