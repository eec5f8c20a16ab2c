import type { TranslationBundle } from '@jupyterlab/translation';
import { JSONExt } from '@lumino/coreutils';
import {
  type JSX,
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type RefObject,
  type SyntheticEvent,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from 'react';
import { ColumnHead, headWords } from './head';
import { useResult } from './hooks';
import {
  columnWidths,
  enlarged,
  fittingWidth,
  type IMeasured,
  type INeeds,
  needsOf,
  ROW_HEIGHT,
  textMeasure
} from './layout';
import type { ResultModel } from './model';
import { columnsBetween, edges, RowScroll, spaceHeight } from './scrolling';
import { areaOf, type IArea, type IPosition, type ISelection, movedTo } from './selection';
import {
  type Format,
  type IColumn,
  isAlignedRight,
  isLines,
  type Row,
  type Value,
  wholeText
} from './values';
import { count, cut } from '../words';

/** Rows and pixels of columns rendered beyond those seen, so that a quick scroll shows no gap. */
const ROWS_BEYOND = 10;
const PIXELS_BEYOND = 240;
/** Milliseconds after which a scroll counts as ended. */
const REST = 150;
/** Rows that are seen at most. */
const MOST_SEEN = 20;
/** Pixels by which a key makes a column wider or narrower. */
const WIDTH_STEP = 16;
/** Characters of a value that its tooltip shows. */
const TOOLTIP_CHARACTERS = 1000;
/** A column with its index among all columns of the result. */
export interface IShownColumn extends IColumn {
  readonly index: number;
}

/** A cell of a result: its row in the shown order, from 0, its column and its element. */
export interface ICell {
  readonly row: number;
  readonly column: IColumn;
  readonly anchor: HTMLElement;
}

/** The part of the rows that is seen: the first, and the one after the last. */
export type RowsSeen = readonly [number, number];

/** The content of a `Grid`, and its callbacks. */
export interface IGridProps {
  model: ResultModel;
  columns: readonly IShownColumn[];
  label: string;
  selection: ISelection | null;
  onSelect: (selection: ISelection | null) => void;
  onSeen: (seen: RowsSeen) => void;
  /** Opens the filter and the statistics of a column; `fit` makes it as wide as its head and its values in view. */
  onColumn: (column: IColumn, anchor: HTMLElement, fit: () => void) => void;
  onSort: (column: IColumn, isFurther: boolean) => void;
  /** Opens a value whole; `isBeside` where the keyboard stays on the grid. */
  onValue: (cell: ICell, isBeside: boolean) => void;
  onCopy: () => void;
  trans: TranslationBundle;
}

/**
 * The rows of a result, of which only those seen are in the page; a grid for screen readers.
 *
 * The keyboard stays on the grid itself, which names the active cell (`aria-activedescendant`): cells come and go.
 */
export function Grid(props: IGridProps): JSX.Element {
  const { model, columns, selection, onSelect, trans } = props;
  const { formats, of, total, statistics, query, widths } = useResult(model);
  const rowCount = model.state.reachable;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const { seen, onScroll, reveal } = useScroll(scroller, head, model, rowCount);
  const indexWidth = 20 + 8 * Math.max(2, count(of).length);

  const firstSeen = Math.floor(seen.top / ROW_HEIGHT);
  const endSeen = Math.min(rowCount, Math.ceil((seen.top + seen.height) / ROW_HEIGHT));
  const first = Math.max(0, firstSeen - ROWS_BEYOND);
  const end = Math.min(rowCount, endSeen + ROWS_BEYOND);
  const { needs, enlarge, fitting } = useNeeds(scroller, model, trans);
  const room = seen.width - indexWidth - 1;
  const shownWidths = useMemo(
    () => columnWidths(columns, needs, widths, room),
    [columns, needs, widths, room]
  );
  const lefts = useMemo(() => edges(shownWidths), [shownWidths]);
  const [firstColumn, endColumn] = columnsBetween(
    lefts,
    seen.left - PIXELS_BEYOND,
    seen.left + seen.width - indexWidth + PIXELS_BEYOND
  );
  const rendered = useMemo(
    () =>
      columns.slice(firstColumn, endColumn).map((column, offset) => {
        const position = firstColumn + offset;
        return {
          column,
          position,
          format: formats[column.index] ?? wholeText,
          style: {
            left: indexWidth + (lefts[position] ?? 0),
            width: shownWidths[position] ?? 0
          }
        };
      }),
    [columns, firstColumn, endColumn, formats, lefts, shownWidths, indexWidth]
  );

  const { state } = model;
  useLayoutEffect(() => enlarge(rendered, first, end), [enlarge, rendered, state, first, end]);

  // Where columns become wider, that of the active cell stays in view; but the grid does not scroll under a pointer that
  // makes another one wider.
  const active = selection?.active;
  const activeColumn = active?.column ?? 0;
  const known = useRef({ lefts, widths });
  useLayoutEffect(() => {
    const { lefts: old, widths: oldWidths } = known.current;
    known.current = { lefts, widths };
    const [left = 0, right = 0] = lefts.slice(activeColumn, activeColumn + 2);
    const [oldLeft = 0, oldRight = 0] = old.slice(activeColumn, activeColumn + 2);
    const isOther = widths !== oldWidths && oldRight - oldLeft === right - left;
    if (oldRight !== right && !isOther && isWithin(old, activeColumn, seen.left, room + 1)) {
      reveal(-1, indexWidth, left, right);
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a scroll leaves the active cell behind
  }, [lefts]);

  const fit = (column: IShownColumn): void => {
    const format = formats[column.index] ?? wholeText;
    // No wider than the box: the edge by which it is made narrower again stays within reach.
    model.setWidth(column.name, Math.min(room, fitting({ column, format }, first, end)));
  };

  const { onSeen } = props;
  useEffect(() => {
    if (seen.height > 0) {
      model.want(first, end);
      onSeen([firstSeen, endSeen]);
    }
  }, [model, model.state.shown, first, end, firstSeen, endSeen, seen.height, onSeen]);

  const select = (active: IPosition, isFurther: boolean): void => {
    onSelect({ anchor: isFurther && selection !== null ? selection.anchor : active, active });
  };
  const page = Math.max(1, Math.floor(seen.height / ROW_HEIGHT) - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current) {
      return;
    }
    const active = selection?.active ?? { row: firstSeen, column: 0 };
    const isModified = event.ctrlKey || event.metaKey;
    const moved = event.altKey ? null : movedTo(event, active, rowCount, columns.length, page);
    const column = columns[active.column];
    if (moved !== null) {
      select(selection === null && !isModified ? active : moved, event.shiftKey && moved.row >= 0);
      reveal(moved.row, indexWidth, lefts[moved.column] ?? 0, lefts[moved.column + 1] ?? 0);
    } else if (isModified && event.key.toLowerCase() === 'a') {
      onSelect({
        anchor: { row: 0, column: 0 },
        active: { row: rowCount - 1, column: columns.length - 1 }
      });
    } else if (isModified && event.key.toLowerCase() === 'c') {
      props.onCopy();
    } else if (event.key === 'Escape' && selection !== null) {
      onSelect(null);
    } else if (event.key === 'Enter' && active.row < 0 && column !== undefined) {
      props.onSort(column, event.shiftKey);
    } else if (event.key === 'Enter' && !event.shiftKey && !isModified) {
      open(active, false);
    } else if (event.key === 'ArrowDown' && event.altKey && column !== undefined) {
      const anchor = document.getElementById(cellId(id, -1, active.column));
      props.onColumn(column, anchor ?? scroller.current, () => fit(column));
    } else if (isWidthKey(event) && selection !== null && column !== undefined) {
      const step = event.key === 'ArrowRight' ? WIDTH_STEP : -WIDTH_STEP;
      model.setWidth(column.name, (shownWidths[active.column] ?? 0) + step);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  /** Open the value of a cell; nothing for null. */
  const open = (position: IPosition, isBeside: boolean): void => {
    const column = columns[position.column];
    const anchor = document.getElementById(cellId(id, position.row, position.column));
    if (column !== undefined && anchor !== null && valueAt(position) !== null) {
      select(position, false);
      props.onValue({ row: position.row, column, anchor }, isBeside);
    }
  };
  const valueAt = ({ row, column }: IPosition): Value =>
    model.row(row)?.[columns[column]?.index ?? -1] ?? null;

  /** The cell in which a press began. */
  const pressed = useRef<HTMLElement | null>(null);
  /** Return the place of a cell; column -1 is a row's number. */
  const positionOf = (cell: HTMLElement | null): IPosition | null => {
    const { row, column } = cell?.dataset ?? {};
    if (row === undefined) {
      return null;
    }
    return { row: Number(row), column: column === undefined ? -1 : Number(column) };
  };
  const onPointer = (event: PointerEvent, isFurther: boolean): void => {
    const position = positionOf(cellOf(event));
    if (position === null) {
      return;
    }
    if (position.column >= 0) {
      select(position, isFurther);
      return;
    }
    const anchor = isFurther && selection !== null ? selection.anchor.row : position.row;
    onSelect({
      anchor: { row: anchor, column: 0 },
      active: { row: position.row, column: columns.length - 1 }
    });
  };

  const area = selection === null || selection.active.row < 0 ? null : areaOf(selection);
  const width = indexWidth + (lefts[columns.length] ?? 0);
  const rows: JSX.Element[] = [];
  for (let index = first; index < end; index++) {
    rows.push(
      <GridRow
        key={index}
        id={id}
        index={index}
        row={model.row(index)}
        cells={rendered}
        indexWidth={indexWidth}
        area={area !== null && area.top <= index && index <= area.bottom ? area : null}
        activeColumn={active?.row === index ? active.column : null}
      />
    );
  }
  const hasStatistics = columns.some(({ name }) => statistics.has(name));
  return (
    <div
      ref={scroller}
      className={`jp-SvcResult-grid${isLines(columns) ? ' jp-mod-lines' : ''}`}
      role="grid"
      aria-label={props.label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable
      aria-activedescendant={
        active === undefined ? undefined : cellId(id, active.row, active.column)
      }
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div
        ref={head}
        className={`jp-SvcResult-head${hasStatistics ? ' jp-mod-statistics' : ''}`}
        role="row"
        aria-rowindex={1}
        style={{ minWidth: width }}
      >
        <div
          className="jp-SvcResult-index"
          role="columnheader"
          aria-colindex={1}
          style={{ width: indexWidth }}
        >
          <span className="jp-SvcResult-unseen">{trans.__('Row')}</span>
        </div>
        {rendered.map(({ column, position, style }) => (
          <ColumnHead
            key={column.name}
            id={cellId(id, -1, position)}
            column={column}
            position={position}
            style={style}
            sort={query.sort}
            statistics={statistics.get(column.name)}
            isUtc={model.state.utc[column.index] === true}
            isActive={active?.row === -1 && active.column === position}
            onSort={props.onSort}
            onOpen={anchor => props.onColumn(column, anchor, () => fit(column))}
            onWidth={width => model.setWidth(column.name, width)}
            onFit={() => fit(column)}
            trans={trans}
          />
        ))}
      </div>
      <div
        className="jp-SvcResult-space"
        role="rowgroup"
        // The height of all rows of the result: what is below does not move when a filter leaves fewer.
        style={{
          height: spaceHeight(rowCount * ROW_HEIGHT),
          minHeight: Math.min(of, MOST_SEEN) * ROW_HEIGHT,
          width
        }}
        onPointerDown={event => {
          if (event.button === 0) {
            pressed.current = cellOf(event);
            if (event.shiftKey) {
              // A notebook would take it for a selection of cells.
              event.preventDefault();
              scroller.current?.focus({ preventScroll: true });
            }
            onPointer(event, event.shiftKey);
          }
        }}
        onPointerOver={event => {
          if (pressed.current !== null && event.buttons === 1) {
            onPointer(event, true);
          }
        }}
        onPointerUp={event => {
          const cell = cellOf(event);
          const position = positionOf(cell);
          const isPress = cell !== null && cell === pressed.current && !event.shiftKey;
          const column = columns[position?.column ?? -1];
          const isText = column !== undefined && !isAlignedRight(column.type);
          if (isPress && isText && position !== null && isShortened(cell, valueAt(position))) {
            open(position, true);
          }
          pressed.current = null;
        }}
        onDoubleClick={event => {
          const position = positionOf(cellOf(event));
          if (position !== null) {
            open(position, true);
          }
        }}
      >
        <div
          role="presentation"
          className="jp-SvcResult-rows"
          style={{
            transform: `translateY(${seen.shift + first * ROW_HEIGHT}px)`
          }}
        >
          {rows}
        </div>
      </div>
      {total === 0 && of > 0 && (
        <p className="jp-SvcResult-none">{trans.__('No row fits the search and the filters.')}</p>
      )}
    </div>
  );
}

interface IRenderedColumn {
  readonly column: IShownColumn;
  readonly position: number;
  readonly format: Format;
  readonly style: { left: number; width: number };
}

interface IRowProps {
  id: string;
  index: number;
  row: Row | undefined;
  cells: readonly IRenderedColumn[];
  indexWidth: number;
  /** The selection, if the row is in it. */
  area: IArea | null;
  activeColumn: number | null;
}

const GridRow = memo(function GridRow(props: IRowProps): JSX.Element {
  const { id, index, row, cells, area } = props;
  return (
    <div className="jp-SvcResult-row" role="row" aria-rowindex={index + 2}>
      <div
        className="jp-SvcResult-index"
        role="rowheader"
        aria-colindex={1}
        data-row={index}
        style={{ width: props.indexWidth }}
      >
        {count(index)}
      </div>
      {cells.map(({ column, position, format, style }) => {
        const value = row?.[column.index] ?? null;
        const isSelected = area !== null && area.left <= position && position <= area.right;
        const kinds = [
          isAlignedRight(column.type) && 'jp-mod-right',
          (value === null || row === undefined) && 'jp-mod-null',
          props.activeColumn === position && 'jp-mod-active'
        ];
        return (
          <div
            key={column.name}
            id={cellId(id, index, position)}
            className={['jp-SvcResult-cell', ...kinds].filter(Boolean).join(' ')}
            role="gridcell"
            aria-colindex={position + 2}
            aria-selected={isSelected}
            data-row={index}
            data-column={position}
            dir="auto"
            title={value === null ? undefined : cut(String(value), TOOLTIP_CHARACTERS)}
            style={style}
          >
            {row === undefined ? '…' : format(value)}
          </div>
        );
      })}
    </div>
  );
});

/** Return the cell, or the number of a row, in which something happens. */
function cellOf({ target }: SyntheticEvent): HTMLElement | null {
  return (target as HTMLElement).closest<HTMLElement>('[data-row]');
}

/** Whether a cell shows only a part of a text, or line breaks as signs. */
function isShortened(cell: HTMLElement, value: Value): boolean {
  return cell.scrollWidth > cell.clientWidth || wholeText(value) !== cell.textContent;
}

/** Return the element id of a cell; row -1 is the head. */
function cellId(grid: string, row: number, column: number): string {
  return `${grid}${row}-${column}`;
}

/** Whether a column between these edges is within the part that is seen. */
function isWithin(edges: readonly number[], column: number, left: number, room: number): boolean {
  return (edges[column] ?? 0) >= left && (edges[column + 1] ?? 0) <= left + room;
}

/** Alt with an arrow to the left or the right makes a column narrower or wider. */
function isWidthKey({ altKey, key }: KeyboardEvent): boolean {
  return altKey && (key === 'ArrowLeft' || key === 'ArrowRight');
}

interface IMeasuredNeeds {
  needs: INeeds;
  enlarge: (cells: readonly IMeasured[], first: number, end: number) => void;
  fitting: (cell: IMeasured, first: number, end: number) => number;
}

const NO_NEEDS: INeeds = { heads: [], values: [] };

/**
 * Return what the columns of the result need, what enlarges it for rows of a range, and what returns the width in which
 * a column shows them whole.
 *
 * The needs stay when the rows are sorted or filtered, but for columns of numbers and times that have longer values
 * then.
 */
function useNeeds(
  scroller: RefObject<HTMLElement>,
  model: ResultModel,
  trans: TranslationBundle
): IMeasuredNeeds {
  const { columns } = model.state;
  const names = columns.map(({ name }) => name).join('\n');
  const [needs, setNeeds] = useState(NO_NEEDS);
  const measure = useRef<((text: string) => number) | null>(null);
  useLayoutEffect(() => {
    if (scroller.current !== null) {
      const { formats, utc } = model.state;
      const heads = columns.map((column, index) => headWords(trans, column, utc[index] === true));
      measure.current = textMeasure(scroller.current);
      setNeeds(needsOf(columns, formats, heads, rowsOf(model, 0, 50), measure.current));
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- columns of the same names keep their needs
  }, [names]);
  const enlarge = useCallback(
    (cells: readonly IMeasured[], first: number, end: number): void => {
      const widthOf = measure.current;
      if (widthOf !== null) {
        setNeeds(known => enlarged(known, cells, rowsOf(model, first, end), widthOf));
      }
    },
    [model]
  );
  const fitting = (cell: IMeasured, first: number, end: number): number =>
    fittingWidth(cell, needs, rowsOf(model, first, end), measure.current ?? (() => 0));
  return { needs, enlarge, fitting };
}

/** Return those rows of a range that are read. */
function rowsOf(model: ResultModel, first: number, end: number): Row[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, offset) =>
    model.row(first + offset)
  ).filter(row => row !== undefined);
}

type Seen = {
  /** Pixels within the rows. */
  readonly top: number;
  /** The scroll position less `top`: other than 0 where the rows are taller than an element can be. */
  readonly shift: number;
  readonly left: number;
  readonly width: number;
  readonly height: number;
};

const NOTHING_SEEN: Seen = { top: 0, shift: 0, left: 0, width: 0, height: 0 };

interface IGridScroll {
  seen: Seen;
  onScroll: () => void;
  reveal: (row: number, indexWidth: number, left: number, right: number) => void;
}

/** Follow the scroll position of a grid, and keep it in the model while the grid is not in the page. */
function useScroll(
  scroller: RefObject<HTMLDivElement>,
  head: RefObject<HTMLElement>,
  model: ResultModel,
  rowCount: number
): IGridScroll {
  const [scroll] = useState(() => new RowScroll());
  const [seen, setSeen] = useState<Seen>(NOTHING_SEEN);
  const resting = useRef<ReturnType<typeof setTimeout>>();

  const update = useCallback(() => {
    const node = scroller.current;
    if (node === null) {
      return;
    }
    const height = node.clientHeight - (head.current?.offsetHeight ?? 0);
    scroll.resize(rowCount * ROW_HEIGHT, height);
    const left = node.scrollLeft;
    const { top } = scroll;
    Object.assign(model.scroll, { top, left });
    const next = { top, shift: scroll.scrollTop - top, left, width: node.clientWidth, height };
    setSeen(old => (JSONExt.deepEqual(old, next) ? old : next));
  }, [scroller, head, scroll, model, rowCount]);

  const goTo = useCallback(
    (top: number) => {
      const node = scroller.current;
      if (node !== null) {
        node.scrollTop = scroll.goTo(top);
        update();
      }
    },
    [scroller, scroll, update]
  );

  const { shown } = model.state;
  useLayoutEffect(() => {
    const node = scroller.current;
    if (node !== null) {
      const { top, left } = model.scroll;
      update();
      node.scrollLeft = left;
      goTo(top);
    }
    // Rows of another query are shown from where the model says, which is their beginning.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [scroller, model, shown]);

  useLayoutEffect(() => {
    const node = scroller.current;
    if (node === null) {
      return;
    }
    update();
    const observer = new ResizeObserver(update);
    observer.observe(node);
    // A change of theme may make it higher than the grid for a moment, which stays as high as it is.
    if (head.current !== null) {
      observer.observe(head.current);
    }
    return () => {
      observer.disconnect();
      clearTimeout(resting.current);
    };
  }, [scroller, head, update]);

  const onScroll = useCallback(() => {
    const node = scroller.current;
    if (node === null) {
      return;
    }
    if (node.scrollTop !== scroll.scrollTop) {
      scroll.moved(node.scrollTop);
    }
    update();
    clearTimeout(resting.current);
    resting.current = setTimeout(() => {
      const wanted = scroll.settled();
      if (Math.abs(wanted - node.scrollTop) > 1) {
        node.scrollTop = wanted;
        update();
      }
    }, REST);
  }, [scroller, scroll, update]);

  const reveal = useCallback(
    (row: number, indexWidth: number, left: number, right: number) => {
      const node = scroller.current;
      if (node === null) {
        return;
      }
      const height = node.clientHeight - (head.current?.offsetHeight ?? 0);
      const width = node.clientWidth - indexWidth;
      if (right > node.scrollLeft + width) {
        node.scrollLeft = right - width;
      }
      if (left < node.scrollLeft) {
        node.scrollLeft = left;
      }
      const top = row * ROW_HEIGHT;
      if (row >= 0 && top < scroll.top) {
        goTo(top);
      } else if (row >= 0 && top + ROW_HEIGHT > scroll.top + height) {
        goTo(top + ROW_HEIGHT - height);
      } else {
        update();
      }
    },
    [scroller, head, scroll, goTo, update]
  );
  return { seen, onScroll, reveal };
}
